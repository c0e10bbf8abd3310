import type { Random } from "../random.ts";
import { Bytes } from "./bytes.ts";
import type { JournalRecord } from "./journal.ts";

type Change = Extract<JournalRecord, { kind: "write" | "truncate" }>;
type Entry = { readonly name: string; readonly file: DiskFile | undefined };

/** Which of the writes since a file's last sync survive a power loss. */
export type Survival = "nothing" | "everything" | "some writes" | "some sectors";

const SECTOR = 512;

/** Files by name, as a power loss would leave them. */
export type Image = ReadonlyMap<string, Buffer>;

/**
 * A disk whose write cache is lost when the power is cut. The model:
 *
 * - A file's content at the last sync (fsync, fdatasync) survives.
 * - Any part of the later writes and truncations may survive: none, all, some, or individual 512-byte sectors. The
 * cache keeps no order. A hole reads as zeros.
 * - A name change (a file created, removed or renamed) becomes durable only when the folder is synced. Syncing the file
 * is not enough, which is stricter than ext4, XFS and btrfs. Without a sync, a prefix of the changes survives, as in a
 * journaling file system.
 */
export class Disk {
  readonly #inodes = new Map<bigint, DiskFile>();
  readonly #durable = new Map<string, DiskFile>();
  #names: Entry[] = [];

  apply(record: JournalRecord): void {
    switch (record.kind) {
      case "opened":
        this.#open(record.inode, record.name);
        return;
      case "write":
      case "truncate":
        this.#file(record.inode).unsynced.push(record);
        return;
      case "sync":
        this.#file(record.inode).sync();
        return;
      case "sync folder":
        for (const { name, file } of this.#names) setEntry(this.#durable, name, file);
        this.#names = [];
        return;
      case "unlink":
        this.#names.push({ name: record.name, file: undefined });
        return;
      case "rename":
        this.#names.push({ name: record.to, file: this.#now().get(record.from) });
        this.#names.push({ name: record.from, file: undefined });
        return;
      case "answer":
      case "request":
        return;
    }
  }

  unsynced(): string[] {
    return [...this.#now()].filter(([, file]) => file.unsynced.length > 0).map(([name]) => name);
  }

  current(): Image {
    return new Map([...this.#now()].map(([name, file]) => [name, file.image(() => true)]));
  }

  /** Returns what survives every power loss. */
  synced(): Image {
    return new Map([...this.#durable].map(([name, file]) => [name, file.image(() => false)]));
  }

  afterPowerLoss(random: Random): Image {
    const names = new Map(this.#durable);
    const kept = random.below(this.#names.length + 1);
    for (const { name, file } of this.#names.slice(0, kept)) setEntry(names, name, file);
    return new Map([...names].map(([name, file]) => [name, file.image(survivor(random))]));
  }

  #now(): Map<string, DiskFile> {
    const names = new Map(this.#durable);
    for (const { name, file } of this.#names) setEntry(names, name, file);
    return names;
  }

  #open(inode: bigint, name: string): void {
    const known = this.#inodes.get(inode);
    // The kernel may reuse the inode number of a removed file.
    if (known !== undefined && this.#now().get(name) === known) return;
    const file = new DiskFile();
    this.#inodes.set(inode, file);
    this.#names.push({ name, file });
  }

  #file(inode: bigint): DiskFile {
    const file = this.#inodes.get(inode);
    if (file === undefined) throw new Error("the journal writes to a file that was never opened");
    return file;
  }
}

/** Decides whether the bytes of a change reached the disk in one sector. A truncation has no bytes. */
type Survives = (change: Change, sector: number) => boolean;

class DiskFile {
  #synced: Bytes = new Bytes();
  readonly unsynced: Change[] = [];

  sync(): void {
    for (const change of this.unsynced) applyTo(this.#synced, change, () => true);
    this.unsynced.length = 0;
  }

  image(survives: Survives): Buffer {
    const bytes = this.#synced.copy();
    for (const change of this.unsynced) applyTo(bytes, change, survives);
    return bytes.toBuffer();
  }
}

function applyTo(bytes: Bytes, change: Change, survives: Survives): void {
  if (change.kind === "truncate") {
    if (survives(change, -1)) bytes.truncate(change.size);
    return;
  }
  const { offset, data } = change;
  for (let at = offset; at < offset + data.length; ) {
    const end = Math.min(offset + data.length, (Math.floor(at / SECTOR) + 1) * SECTOR);
    if (survives(change, at)) bytes.write(at, data.subarray(at - offset, end - offset));
    at = end;
  }
}

function survivor(random: Random): Survives {
  const survival = random.pick<Survival>(["nothing", "everything", "some writes", "some sectors"]);
  if (survival === "nothing") return () => false;
  if (survival === "everything") return () => true;
  const share = random.next();
  if (survival === "some sectors") return () => random.next() < share;
  const kept = new Map<Change, boolean>();
  return (change) => {
    const keep = kept.get(change) ?? random.next() < share;
    kept.set(change, keep);
    return keep;
  };
}

function setEntry(names: Map<string, DiskFile>, name: string, file: DiskFile | undefined): void {
  if (file === undefined) names.delete(name);
  else names.set(name, file);
}
