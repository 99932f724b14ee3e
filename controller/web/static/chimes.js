// Chimes: short tones made here, for the events that the table's file names; none by default.
// A browser lets a page sound only after a touch, unless its kiosk was started for it; until then
// nothing is heard, and nothing else depends on it.

const { chimes = "", volume = "0" } = document.body.dataset;
const wanted = new Set(chimes.split(" ").filter(Boolean));

// Hertz and seconds of each tone, one after the other.
const TONES = {
  locked: [[523, 0.09], [784, 0.14]],
  refused: [[311, 0.12], [233, 0.18]],
  late: [[440, 0.1], [440, 0.1]],
  card: [[659, 0.12], [880, 0.18]],
  fault: [[196, 0.25], [165, 0.35]],
  win: [[523, 0.14], [659, 0.14], [784, 0.14], [1047, 0.5]],
};

let audio = null;

// The page remembers what sounded last, because a tone cannot be looked at.
export function chime(name) {
  if (!wanted.has(name) || Number(volume) === 0) return;
  audio ??= new AudioContext();
  audio.resume();
  document.body.dataset.chimed = name;
  let at = audio.currentTime;
  for (const [hertz, seconds] of TONES[name]) {
    tone(hertz, at, seconds);
    at += seconds;
  }
}

// A tone that swells and dies away, so that it does not click.
function tone(hertz, at, seconds) {
  const source = new OscillatorNode(audio, { type: "sine", frequency: hertz });
  const level = new GainNode(audio, { gain: 0 });
  level.gain.setValueAtTime(0, at);
  level.gain.linearRampToValueAtTime(Number(volume) / 100, at + 0.012);
  level.gain.exponentialRampToValueAtTime(0.0001, at + seconds);
  source.connect(level).connect(audio.destination);
  source.start(at);
  source.stop(at + seconds);
}

// The panel's events, told by two views that follow each other.
export function chimeForChange(before, now) {
  if (before === null) return;
  const late = (view) => view.seats.flatMap((seat) => seat.sensors).filter((sensor) => sensor.light === "late").length;
  const begins = (holds) => holds(now) && !holds(before);
  if (begins((view) => view.state === "fault")) return chime("fault");
  if (begins((view) => view.claim?.stage === "authorise")) return chime("card");
  if (now.round_open && now.round !== before.round) return chime("locked");
  if (late(now) > late(before)) return chime("late");
  if (begins((view) => view.guide.kind === "refused")) chime("refused");
}
