// Frames and messages of docs/protocol.md: four bytes of length, then one map with its type as key 0.

import { Refused, decode, encode } from "./cbor.mjs";

export const FRAME_MAX = 4096;
// How many fields each message has; every one below 64 is always there.
export const LINK = { 1: 9, 2: 7, 3: 2, 4: 6, 5: 2, 6: 5, 7: 5, 8: 3, 9: 2, 10: 4, 11: 8, 12: 4 };
export const ENROLMENT = { 1: 1, 2: 4, 3: 1, 4: 1, 5: 1 };

// A field of a message or an event that may be left out has its number with it: new Later(64, ...).
export class Later {
  constructor(key, value) {
    this.entry = [key, value];
  }
}

export function numbered(fields) {
  return fields.map((value, index) => (value instanceof Later ? value.entry : [index + 1, value]));
}

export function frame(type, ...fields) {
  const values = new Map([[0, type], ...numbered(fields)]);
  const payload = encode(values);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  return Buffer.concat([length, payload]);
}

// Cuts frames out of what arrives, and hands on [type, field 1, field 2 ... field 64, field 65].
export class Frames {
  constructor(counts, take) {
    this.counts = counts;
    this.take = take;
    this.held = Buffer.alloc(0);
  }

  feed(data) {
    this.held = Buffer.concat([this.held, data]);
    while (this.held.length >= 4) {
      const length = this.held.readUInt32BE(0);
      if (length < 1 || length > FRAME_MAX) throw new Refused(2, `a frame of ${length} bytes`);
      if (this.held.length < 4 + length) return;
      const payload = Buffer.from(this.held.subarray(4, 4 + length));
      this.held = this.held.subarray(4 + length);
      this.take(this.fields(decode(payload)));
    }
  }

  fields(values) {
    if (!(values instanceof Map)) throw new Refused(1, "a message is a map");
    const type = values.get(0);
    const count = this.counts[type];
    if (count === undefined) throw new Refused(4, `there is no message of type ${type}`);
    for (const key of values.keys())
      if (key > count && key < 64) throw new Refused(5, `there is no field ${key}`);
    const found = [type];
    for (let key = 1; key <= count; key++) {
      if (!values.has(key)) throw new Refused(5, `field ${key} is missing`);
      found.push(values.get(key));
    }
    return [...found, values.get(64), values.get(65)];
  }
}
