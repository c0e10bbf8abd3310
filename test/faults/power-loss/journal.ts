import { readFileSync } from "node:fs";

/** A system call as recorded by journal.c, in the kernel's order. */
export type JournalRecord =
  | { readonly kind: "opened"; readonly inode: bigint; readonly name: string }
  | {
      readonly kind: "write";
      readonly inode: bigint;
      readonly offset: number;
      readonly data: Buffer;
    }
  | { readonly kind: "truncate"; readonly inode: bigint; readonly size: number }
  | { readonly kind: "sync"; readonly inode: bigint }
  | { readonly kind: "sync folder" }
  | { readonly kind: "unlink"; readonly name: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string }
  /** An HTTP response is about to be sent to this port. */
  | { readonly kind: "answer"; readonly port: number; readonly status: number }
  | { readonly kind: "request"; readonly text: string };

const HEAD_BYTES = 24;

/** Parses a journal. Ignores an incomplete last record. */
export function readJournal(file: string): JournalRecord[] {
  const bytes = readFileSync(file);
  const records: JournalRecord[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 4);
    const end = at + HEAD_BYTES + length;
    if (end > bytes.length) break;
    records.push(toRecord(bytes.subarray(at, end)));
    at = end;
  }
  return records;
}

function toRecord(bytes: Buffer): JournalRecord {
  const inode = bytes.readBigUInt64LE(8);
  const offset = Number(bytes.readBigUInt64LE(16));
  const data = bytes.subarray(HEAD_BYTES);
  switch (bytes.readUInt32LE(0)) {
    case 1:
      return { kind: "opened", inode, name: String(data) };
    case 2:
      return { kind: "write", inode, offset, data };
    case 3:
      return { kind: "truncate", inode, size: offset };
    case 4:
      return { kind: "sync", inode };
    case 5:
      return { kind: "sync folder" };
    case 6:
      return { kind: "unlink", name: String(data) };
    case 7:
      return { kind: "rename", from: text(data, 0, offset), to: text(data, offset) };
    case 8:
      return { kind: "answer", port: Number(inode), status: offset };
    case 10:
      return { kind: "request", text: String(data) };
    default:
      throw new Error("the journal has a call that failed or is unknown");
  }
}

function text(data: Buffer, from: number, to?: number): string {
  return data.subarray(from, to).toString();
}
