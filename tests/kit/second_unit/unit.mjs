// A table unit in another language, written from docs/protocol.md alone, to try that page with.
// No hardware: whoever types "ACT start", "ACT win" or "ACT end" is the dealer.
//
//   node unit.mjs FOLDER SERIAL HOST PORT FINGERPRINT CODE

import fs from "node:fs";
import readline from "node:readline";
import tls from "node:tls";
import { decode } from "./cbor.mjs";
import { enrol } from "./enrol.mjs";
import { Journal } from "./journal.mjs";
import { Frames, LINK, Later, frame } from "./wire.mjs";

const [folder, unitId, host, portText, fingerprint, code] = process.argv.slice(2);
const port = Number(portText);
const SOFTWARE = "second unit";
const [BOOT, ROUND_START, HAND, CLAIM, AWARDED, COMMIT, SETTLED, ROUND_END] = [1, 2, 4, 5, 6, 8, 9, 10];
const [WELCOME, SETTINGS, EVENT, ACK, AWARD, COMMITTED, HEARTBEAT, ERROR, GO_TO] = [2, 3, 4, 5, 6, 7, 9, 10, 26];
const CONNECT_MS = 2000;
const SILENCE_MS = 5000;
const [RETRY_FIRST_MS, RETRY_MAX_MS] = [250, 1500];

fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
const journal = new Journal(folder, unitId);

// ---- the table, as the journal tells it ----

const of = (kind) => journal.events.filter((event) => event.kind === kind);
const newest = (kind) => of(kind).at(-1);
const field = (event, key) => (event ? event.body.get(key) : 0);
const roundNumber = () => field(newest(ROUND_START), 1);
const roundIsOn = () => roundNumber() > field(newest(ROUND_END), 1);
const has = (kind, claim) => of(kind).some((event) => event.body.get(kind === COMMIT ? 2 : 1) === claim);
const game = () => decode(journal.settings).get(6)[0];

function startRound() {
  if (!journal.settings || roundIsOn()) return;
  const bets = ["1A", "2A"];
  journal.append(ROUND_START, roundNumber() + 1, bets, [], [], bets.length * game()[3]);
}

function claimWin() {
  const hand = game()[5].find((each) => each[2] === 2)[0];
  journal.append(HAND, roundNumber(), "1A", hand);
  const claim = journal.append(CLAIM, roundNumber(), field(newest(CLAIM), 2) + 1, [["1A", hand]], false);
  journal.seal(claim, "claim");
}

function awarded(number, lines, envy, role, frozen) {
  if (field(newest(CLAIM), 2) !== number || has(AWARDED, number)) return;
  journal.append(AWARDED, number, lines, envy, role, frozen);
  if (role === 0) journal.append(COMMIT, roundNumber(), number, 1, Buffer.alloc(0), 0);
}

function settled(number, win, lines, envy) {
  if (has(COMMIT, number) && !has(SETTLED, number)) journal.append(SETTLED, number, win, lines, envy);
}

const ACTS = { start: startRound, win: claimWin, end: () => roundIsOn() && journal.append(ROUND_END, roundNumber()) };

// ---- one conversation ----

class Conversation {
  constructor(at, ended) {
    this.ended = ended;
    this.sentTo = null;
    this.welcomed = false;
    this.acked = 0;
    this.sent = 0;
    this.window = 1;
    this.socket = tls.connect({
      host: at.host,
      port: at.port,
      servername: "game-manager.underfelt",
      ca: fs.readFileSync(`${folder}/ca.pem`),
      cert: fs.readFileSync(`${folder}/unit.pem`),
      key: fs.readFileSync(`${folder}/unit.pem`),
      ALPNProtocols: ["tbl/1"],
      minVersion: "TLSv1.3",
      ecdhCurve: "prime256v1",
    });
    const frames = new Frames(LINK, (message) => this.take(message));
    this.patience = setTimeout(() => this.end("no connection"), CONNECT_MS);
    this.socket.on("secureConnect", () => this.greet());
    this.socket.on("data", (data) => this.heard(() => frames.feed(data)));
    this.socket.on("error", (error) => this.end(error.message));
    this.socket.on("close", () => this.end("it hung up"));
  }

  greet() {
    if (this.socket.alpnProtocol !== "tbl/1") return this.end("another protocol");
    this.wait();
    const digest = journal.settingsDigest();
    const place = journal.tail ? [new Later(64, [journal.tail.slice(0, 2)])] : [];
    this.socket.write(frame(1, unitId, 0, 0, journal.id, journal.last, ackedUpTo, digest, SOFTWARE, [], ...place));
  }

  wait() {
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.end("silence"), SILENCE_MS);
  }

  heard(take) {
    this.wait();
    try {
      take();
      this.send();
    } catch (error) {
      this.end(error.message);
    }
  }

  take([type, ...fields]) {
    if (type === GO_TO) return this.goTo(fields[0]);
    if (!this.welcomed && type !== WELCOME) throw new Error(type === ERROR ? fields[1] : "no welcome");
    if (type === WELCOME) this.welcome(fields);
    else if (type === SETTINGS) journal.adopt(...fields);
    else if (type === ACK) this.acknowledge(fields[0], fields[2]);
    else if (type === AWARD) awarded(...fields);
    else if (type === COMMITTED) settled(...fields);
    else if (type === ERROR && !fields[2] && !fields[3]) throw new Error(fields[1]);
    else if (type === EVENT) throw new Error("this unit restores no journal");
  }

  goTo(address) {
    const cut = address.lastIndexOf(":");
    this.sentTo = { host: address.slice(0, cut).replace(/^\[|\]$/g, ""), port: Number(address.slice(cut + 1)) };
    this.end("sent on");
  }

  welcome([, , last, window, , , , tails, digestThen]) {
    this.believe(tails, digestThen);
    this.acknowledge(last);
    this.sent = last;
    this.window = window;
    this.welcomed = true;
    this.beating = setInterval(() => this.beat(), 1000);
  }

  believe(tails, digestThen) {
    try {
      journal.believe(tails?.[0], digestThen);
    } catch (refusal) {
      this.socket.write(frame(ERROR, 20, refusal.message, 0, 0));
      throw refusal;
    }
  }

  acknowledge(sequence, tails) {
    if (tails) this.believe(tails, tails[0][1] === journal.tail?.[1] ? tails[0][2] : journal.tail?.[2]);
    if (sequence > journal.last) throw new Error("the manager knows more than the journal");
    this.acked = ackedUpTo = Math.max(ackedUpTo, sequence);
    journal.keep("acked", String(ackedUpTo));
  }

  beat() {
    this.socket.write(frame(HEARTBEAT, Number(process.hrtime.bigint() / 1_000_000n), roundIsOn() ? "locked" : "open"));
  }

  send() {
    while (this.welcomed && this.sent < Math.min(journal.last, this.acked + this.window)) {
      const event = journal.events[this.sent];
      this.socket.write(frame(EVENT, event.sequence, event.kind, event.body, event.monotonic, event.wall, event.digest));
      this.sent += 1;
    }
  }

  end(why) {
    clearTimeout(this.patience);
    clearInterval(this.beating);
    this.socket.destroy();
    if (this.ended) this.ended(this.welcomed, why, this.sentTo);
    this.ended = null;
  }
}

// ---- for ever ----

let ackedUpTo = Number(journal.kept("acked")?.toString() ?? 0);
let conversation = null;
let retryMs = RETRY_FIRST_MS;

let sentOn = 0;

function converse(at = { host, port }) {
  conversation = new Conversation(at, (welcomed, why, sentTo) => {
    console.log("link ended:", why);
    sentOn = sentTo ? (welcomed ? 1 : sentOn + 1) : 0;
    if (sentTo && sentOn <= 2) return converse(sentTo);
    retryMs = welcomed ? RETRY_FIRST_MS : Math.min(retryMs * 2, RETRY_MAX_MS);
    setTimeout(() => converse(), retryMs * (0.5 + Math.random() / 2));
  });
}

if (!fs.existsSync(`${folder}/unit.pem`))
  await enrol(folder, unitId, { host, port: port + 1 }, fingerprint, code, journal.sealKeys.publicBytes);
journal.append(BOOT, of(BOOT).length + 1, SOFTWARE, "");
converse();
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  ACTS[line.replace("ACT ", "")]?.();
  conversation.send();
});
