import { fourAt } from "./walk.ts";

/**
 * Where the records begin that Samsung's phones put behind their pictures: records, a directory (SEFH)
 * that says how far back each of them begins, the length of the directory, and SEFT at the very end. The
 * layout is documented by ExifTool (Samsung.pm). Undefined where there are none.
 */
export function samsungRecords(bytes: Buffer): number | undefined {
  const tail = bytes.length - 8;
  if (tail < 0 || fourAt(bytes, tail + 4) !== "SEFT") return undefined;
  const directory = tail - bytes.readUInt32LE(tail);
  if (directory < 0 || directory + 12 > tail) return undefined;
  const count = bytes.readUInt32LE(directory + 8);
  if (fourAt(bytes, directory) !== "SEFH" || directory + 12 + 12 * count > tail) return undefined;
  let farthest = 0;
  for (let entry = 0; entry < count; entry += 1) {
    farthest = Math.max(farthest, bytes.readUInt32LE(directory + 12 + 12 * entry + 4));
  }
  return directory - farthest;
}
