// The unit's journal: every event durable before it is sent, chained by its digest, and sealed.

import crypto from "node:crypto";
import fs from "node:fs";
import { decode, encode } from "./cbor.mjs";
import { Later, numbered } from "./wire.mjs";

const sha256 = (...parts) => crypto.createHash("sha256").update(Buffer.concat(parts)).digest();
const started = process.hrtime.bigint();

export class Journal {
  constructor(folder, unitId) {
    this.folder = folder;
    this.unitId = unitId;
    this.events = [];
    const path = `${folder}/journal`;
    if (!fs.existsSync(path)) fs.writeFileSync(path, `${crypto.randomBytes(16).toString("hex")}\n`, { flush: true });
    const [id, ...lines] = fs.readFileSync(path, "utf8").trim().split("\n");
    this.id = Buffer.from(id, "hex");
    for (const line of lines) this.events.push(revived(JSON.parse(line)));
    this.file = fs.openSync(path, "a");
    this.settings = this.kept("settings");
    this.sealKeys = this.keys();
    const tail = this.kept("tail");
    this.tail = tail ? decode(tail) : null; // era, number, digest: of the manager's ledger
  }

  // A ledger that went back, or holds something else where its tail was, is refused.
  believe(told, digestThen) {
    if (this.tail) {
      const [era, number, digest] = this.tail;
      const [newEra, newNumber] = told ?? [-1, 0];
      const wentBack = newEra < era || (newEra === era && (newNumber < number || !digestThen?.equals(digest)));
      if (wentBack) throw new Error("the ledger is not the one that was told here");
    }
    if (!told) return;
    this.tail = told.slice(0, 3);
    this.keep("tail", encode(this.tail));
  }

  kept(name) {
    const path = `${this.folder}/${name}`;
    return fs.existsSync(path) ? fs.readFileSync(path) : null;
  }

  keep(name, data) {
    fs.writeFileSync(`${this.folder}/${name}`, data, { mode: 0o600, flush: true });
  }

  keys() {
    if (!this.kept("seal.pem")) {
      const { privateKey } = crypto.generateKeyPairSync("ed25519");
      this.keep("seal.pem", privateKey.export({ type: "pkcs8", format: "pem" }));
    }
    const privateKey = crypto.createPrivateKey(this.kept("seal.pem"));
    const spki = crypto.createPublicKey(privateKey).export({ type: "spki", format: "der" });
    return { privateKey, publicBytes: spki.subarray(-32) };
  }

  get last() {
    return this.events.length;
  }

  settingsDigest() {
    return this.settings ? sha256(this.settings) : Buffer.alloc(0);
  }

  // ROUND_START(1, ["1A"]) is append(2, 1, ["1A"], ...): fields in the order of docs/protocol.md.
  append(kind, ...fields) {
    const body = new Map(numbered(fields));
    const previous = this.last ? this.events[this.last - 1].digest : Buffer.concat([this.id, Buffer.alloc(16)]);
    const sequence = this.last + 1;
    const monotonic = Number((process.hrtime.bigint() - started) / 1_000_000n);
    const wall = Date.now();
    const digest = sha256(previous, encode([sequence, kind, body, monotonic, wall]));
    const event = { sequence, kind, body, monotonic, wall, digest };
    fs.writeSync(this.file, `${JSON.stringify(stored(event))}\n`);
    fs.fsyncSync(this.file);
    this.events.push(event);
    return event;
  }

  seal(sealed, reason) {
    const seen = this.tail ? [this.tail] : [];
    const payload = encode([this.unitId, this.id, sealed.sequence, sealed.digest, reason, ...seen]);
    const covered = encode(["Signature1", Buffer.from("a10127", "hex"), Buffer.from("underfelt seal 1"), payload]);
    const signature = crypto.sign(null, covered, this.sealKeys.privateKey);
    this.append(14, sealed.sequence, reason, signature, ...seen.map((tail) => new Later(64, [tail])));
  }

  adopt(digest, body) {
    if (!sha256(body).equals(digest)) throw new Error("the settings do not fit their digest");
    this.keep("settings", body);
    this.settings = Buffer.from(body);
    this.append(12, digest);
  }
}

// JSON knows no bytes and no maps.
function stored(value) {
  if (Buffer.isBuffer(value)) return { hex: value.toString("hex") };
  if (value instanceof Map) return { map: [...value].map(([key, each]) => [key, stored(each)]) };
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, stored(each)]));
}

function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== "object") return value;
  if (value.hex !== undefined) return Buffer.from(value.hex, "hex");
  if (value.map !== undefined) return new Map(value.map.map(([key, each]) => [key, revived(each)]));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, revived(each)]));
}
