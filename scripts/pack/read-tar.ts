import { gunzipSync } from "node:zlib";

export interface TarEntry {
  readonly text: string;
  /** In bytes. */
  readonly size: number;
  readonly mode: number;
}

/** Returns the files in a .tgz, by path. Reads only the part of the format that npm writes (ustar, no links). */
export function readTar(archive: Uint8Array): Map<string, TarEntry> {
  const bytes = gunzipSync(archive);
  const entries = new Map<string, TarEntry>();
  for (let at = 0; at < bytes.length && bytes[at] !== 0; ) {
    const field = (offset: number, length: number) =>
      bytes.toString("utf8", at + offset, at + offset + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 12), 8);
    const prefix = field(345, 155);
    const path = prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`;
    const text = bytes.toString("utf8", at + 512, at + 512 + size);
    entries.set(path, { text, size, mode: Number.parseInt(field(100, 8), 8) });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}
