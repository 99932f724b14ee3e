// Enrolment of docs/protocol.md: compare the CA's fingerprint, ask with a code, show six digits.

import crypto from "node:crypto";
import fs from "node:fs";
import tls from "node:tls";
import { encode } from "./cbor.mjs";
import { ENROLMENT, Frames, frame } from "./wire.mjs";

const ALPN = "tbl-enrol/1";
const MANAGER = "game-manager.underfelt";

const pem = (name, der) =>
  `-----BEGIN ${name}-----\n${der.toString("base64").replace(/(.{64})/g, "$1\n").trim()}\n-----END ${name}-----\n`;

// ---- PKCS #10 in DER: a name, a public key, a signature over both ----

function der(tag, ...parts) {
  const content = Buffer.concat(parts);
  const [high, low] = [content.length >> 8, content.length & 255];
  const length = content.length < 128 ? [low] : content.length < 256 ? [0x81, low] : [0x82, high, low];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const COMMON_NAME = Buffer.from("0603550403", "hex");
const ECDSA_WITH_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");

function signingRequest(unitId, keys) {
  const name = der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0c, Buffer.from(unitId)))));
  const key = keys.publicKey.export({ type: "spki", format: "der" });
  const wanted = der(0x30, Buffer.from("020100", "hex"), name, key, Buffer.from("a000", "hex"));
  const signature = crypto.sign("sha256", wanted, keys.privateKey);
  return der(0x30, wanted, der(0x30, ECDSA_WITH_SHA256), der(0x03, Buffer.from([0]), signature));
}

// ---- the conversation ----

function open(place, trust, take) {
  return new Promise((done, failed) => {
    const socket = tls.connect({
      host: place.host,
      port: place.port,
      servername: MANAGER,
      ALPNProtocols: [ALPN],
      minVersion: "TLSv1.3",
      ecdhCurve: "prime256v1",
      ...trust,
    });
    const end = (value) => (socket.end(), done(value));
    const frames = new Frames(ENROLMENT, (message) => take(message, socket, end, failed));
    socket.on("data", (data) => frames.feed(data));
    socket.on("error", failed);
    socket.on("close", () => failed(new Error("the manager hung up")));
  });
}

function sixDigits(nonce, ca, unitId, request, sealKey) {
  const covered = [Buffer.from("underfelt enrolment 1"), nonce, ca, encode([unitId, request, sealKey])];
  const digest = crypto.createHash("sha256").update(Buffer.concat(covered)).digest();
  return String(digest.readBigUInt64BE(0) % 1_000_000n).padStart(6, "0");
}

export async function enrol(folder, unitId, place, fingerprint, code, sealKey) {
  const ca = await open(place, { rejectUnauthorized: false }, ([type, certificate], _, end, failed) => {
    const shown = crypto.createHash("sha256").update(certificate ?? "").digest("hex");
    if (type !== 1 || shown !== fingerprint) return failed(new Error("this is another CA"));
    end(certificate);
  });
  const keys = crypto.generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const request = signingRequest(unitId, keys);
  const granted = await open(place, { ca: pem("CERTIFICATE", ca) }, ([type, value], socket, end, failed) => {
    if (type === 1) socket.write(frame(2, unitId, code, request, sealKey));
    if (type === 3) console.log("digits", sixDigits(value, ca, unitId, request, sealKey));
    if (type === 4) end(value);
    if (type === 5) failed(new Error(value));
  });
  const key = keys.privateKey.export({ type: "pkcs8", format: "pem" });
  fs.writeFileSync(`${folder}/ca.pem`, pem("CERTIFICATE", ca));
  fs.writeFileSync(`${folder}/unit.pem`, key + pem("CERTIFICATE", granted), { mode: 0o600 });
}
