// The CBOR profile of docs/protocol.md: one encoding for each value, and everything else refused.
// Maps are JavaScript Maps with integer keys, byte strings are Buffers.

const DEPTH_MAX = 8;
const TEXT_MAX = 200;
const INT64_MAX = 2n ** 63n - 1n;

export class Refused extends Error {
  constructor(code, sentence) {
    super(sentence);
    this.code = code;
  }
}

const malformed = (sentence) => new Refused(1, sentence);

function head(major, value) {
  const n = BigInt(value);
  if (n < 24n) return Buffer.from([(major << 5) | Number(n)]);
  const [info, bytes] = n < 256n ? [24, 1] : n < 65536n ? [25, 2] : n < 2n ** 32n ? [26, 4] : [27, 8];
  const data = Buffer.alloc(1 + bytes);
  data[0] = (major << 5) | info;
  for (let at = bytes, rest = n; at > 0; at--, rest >>= 8n) data[at] = Number(rest & 255n);
  return data;
}

export function encode(value) {
  if (value === true) return Buffer.from([0xf5]);
  if (value === false) return Buffer.from([0xf4]);
  if (typeof value === "number" || typeof value === "bigint") {
    const n = BigInt(value);
    return n >= 0n ? head(0, n) : head(1, -1n - n);
  }
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(encode)]);
  const keys = [...value.keys()].sort((a, b) => a - b);
  const items = keys.flatMap((key) => [encode(key), encode(value.get(key))]);
  return Buffer.concat([head(5, keys.length), ...items]);
}

export function decode(data) {
  const reader = { data, at: 0 };
  const value = item(reader, 1);
  if (reader.at !== data.length) throw new Refused(3, "bytes follow the item");
  return value;
}

function item(reader, depth) {
  const [major, info] = [reader.data[reader.at] >> 5, reader.data[reader.at] & 31];
  if (reader.at >= reader.data.length) throw malformed("the item is cut off");
  reader.at += 1;
  if (major === 7) {
    if (info !== 20 && info !== 21) throw malformed("no such simple value");
    return info === 21;
  }
  if (major === 6) throw malformed("tags are not allowed");
  const count = argument(reader, info);
  if (major === 0) return whole(count);
  if (major === 1) return whole(-1n - count);
  if (major === 2) return bytes(reader, count);
  if (major === 3) return text(bytes(reader, count));
  if (depth > DEPTH_MAX) throw malformed("nested too deep");
  return major === 4 ? array(reader, count, depth) : map(reader, count, depth);
}

function argument(reader, info) {
  if (info < 24) return BigInt(info);
  if (info > 27) throw malformed("no definite length");
  const size = 1 << (info - 24);
  let value = 0n;
  for (const byte of bytes(reader, BigInt(size))) value = (value << 8n) | BigInt(byte);
  const least = [24n, 256n, 65536n, 2n ** 32n][info - 24];
  if (value < least) throw malformed("not in its shortest form");
  return value;
}

function whole(value) {
  if (value > INT64_MAX || value < -INT64_MAX - 1n) throw malformed("does not fit 64 bits");
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

function bytes(reader, count) {
  if (count > BigInt(reader.data.length - reader.at)) throw malformed("the item is cut off");
  reader.at += Number(count);
  return reader.data.subarray(reader.at - Number(count), reader.at);
}

function text(data) {
  if (data.length > TEXT_MAX) throw malformed("the text is too long");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw malformed("the text is not UTF-8");
  }
}

function array(reader, count, depth) {
  const values = [];
  for (let n = 0n; n < count; n++) values.push(item(reader, depth + 1));
  return values;
}

function map(reader, count, depth) {
  const values = new Map();
  let last = -1;
  for (let n = 0n; n < count; n++) {
    const key = item(reader, depth + 1);
    if (typeof key !== "number" || key <= last) throw malformed("keys are not in ascending order");
    values.set(key, item(reader, depth + 1));
    last = key;
  }
  return values;
}
