// The words people read; the browser's copy of controller/web/words.py, and the prompts.

export const STATES = {
  open: "Open for bets",
  locked: "Bets locked",
  claim: "Win entry",
  confirm: "Confirm the win",
  offline: "Offline",
  fault: "Fault",
};

export const LIGHTS = {
  off: "",
  detected: "Chip",
  accepted: "Bet in",
  refused: "Refused",
  late: "Late",
  winner: "Winner",
  fault: "Fault",
};

export const MESSAGE_KINDS = { info: "", refused: "Not accepted", fault: "Fault" };

// What the message line says while the table itself has nothing to say.
export function hint(view) {
  const keypad = view.workflow === "keypad";
  if (view.state === "offline") return "No link to the Game Manager. A round under way can finish; a new one must wait.";
  if (view.state === "fault") return "Something on this table cannot be trusted. Call a technician.";
  if (view.state === "locked" && view.wins.length) return `Pay as shown, then press ${keypad ? "GAME OVER" : "END GAME"}.`;
  if (view.state === "locked") return keypad ? "For a winner, press the hand." : "For a winner, press the seat, then the hand.";
  if (view.state !== "open") return "";
  const chips = view.seats.some((seat) => seat.sensors.some((sensor) => sensor.presence === "present"));
  return chips ? `Press ${keypad ? "COIN IN" : "START GAME"} when all bets are down.` : "Waiting for bets.";
}

// What the table waits for, and from whom: [instruction, explanation].
export function prompt(claim, workflow, key) {
  if (claim.stage === "pricing")
    return ["Asking for the amount", "The Game Manager is pricing this win."];
  if (claim.stage === "recording")
    return ["Recording the win", "Wait: the Game Manager is writing it down."];
  if (claim.stage === "return-key")
    return ["Turn the key back to RUN", "The win is logged. The meter moves when the key returns."];
  if (claim.role === "DEALER")
    return ["Press CONFIRM", "Within the dealer's limit: no card or key is needed."];
  if (workflow === "keypad") return keypadPrompt(key);
  return [`Swipe ${claim.role} card`, "Check every amount first. The swipe records the win."];
}

function keypadPrompt(key) {
  if (key === "JPH") return ["Press J-POT", "Check every amount first. J-POT logs the win."];
  return ["Turn the key to JPH", "Then press J-POT to log the win."];
}
