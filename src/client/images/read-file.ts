import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { hasCode, messageOf } from "../../errors.ts";
import { MAX_IMAGE_BYTES, tooLarge } from "./limits.ts";
import { refuse } from "./refuse.ts";

/** Opening a FIFO that nobody writes to would wait for ever; Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The bytes of a file, of which no more than the limit is ever read.
 *
 * @throws {ApiError} TOO_LARGE; {ServiceBotError} INVALID_OPTION where it is no file that can be read
 */
export async function readImageFile(
  path: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const file = await openFile(path);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) {
      refuse(
        undefined,
        `"${path}" is ${stat.isDirectory() ? "a folder" : "a device"}, not a file.`,
      );
    }
    if (stat.size > MAX_IMAGE_BYTES) tooLarge(`"${path}"`);
    return await readAll(file, path, { size: stat.size, signal });
  } catch (error) {
    if (isSystemError(error)) unreadable(path, error);
    throw error;
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, FLAGS);
  } catch (error) {
    return unreadable(path, error);
  }
}

async function readAll(
  file: FileHandle,
  path: string,
  { size, signal }: { size: number; signal: AbortSignal | undefined },
): Promise<Uint8Array<ArrayBuffer>> {
  // One byte of room more shows that the file grows.
  const buffer = new Uint8Array(size + 1);
  let length = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    length += bytesRead;
    if (length > size)
      refuse(undefined, `"${path}" grew while it was read; wait until it is whole.`);
    if (bytesRead === 0) return buffer.subarray(0, length);
  }
}

/** @throws {ServiceBotError} INVALID_OPTION */
function unreadable(path: string, cause: unknown): never {
  const why = reasons.find(([code]) => hasCode(cause, code))?.[1] ?? messageOf(cause);
  const hints = hasCode(cause, "ENOENT")
    ? " If it is the key of an upload, pass { key }." +
      (path.startsWith("~") ? " The shell expands ~, and Node does not." : "")
    : "";
  return refuse(undefined, `The image "${path}" cannot be read: ${why}.${hints}`, { cause });
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

const reasons: readonly (readonly [string, string])[] = [
  ["ENOENT", "there is no such file"],
  ["EACCES", "it is not permitted"],
  ["EPERM", "it is not permitted"],
  ["ENXIO", "it is a socket or a device, not a file"],
];
