import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isAnyArrayBuffer } from "node:util/types";
import { hasCode, messageOf } from "../../errors.ts";
import { MAX_IMAGE_BYTES, refuse, tooLarge } from "./rules.ts";
import { type ImageBytes, isBlob, isWebStream } from "./source.ts";

/** Opening a FIFO without a writer would wait for ever; Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads all bytes of an image into a copy, so that the checked bytes are sent even if the caller changes its own. No more than
 * the limit is held.
 *
 * @throws {ApiError} TOO_LARGE; {ServiceBotError} INVALID_OPTION for a stream that was read before or has no bytes
 * @throws the reason of the signal, and the error of a stream
 */
export async function readBytes(
  bytes: ImageBytes,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if (ArrayBuffer.isView(bytes)) {
    if (bytes.byteLength > MAX_IMAGE_BYTES) tooLarge("The image");
    return Uint8Array.from(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  if (isAnyArrayBuffer(bytes)) return readBytes(new Uint8Array(bytes), signal);
  if (!isBlob(bytes)) return await readStream(bytes, signal);
  if (bytes.size > MAX_IMAGE_BYTES) tooLarge("The image in the Blob");
  return new Uint8Array(await untilAborted(bytes.arrayBuffer(), signal));
}

/** Streams that were read, wholly or in part: a second read would find an empty or cut-off image. */
const readStreams = new WeakSet<object>();

/** Reads a stream, and stops it at an error or as soon as it is longer than an image may be. */
async function readStream(
  stream: ReadableStream<unknown> | AsyncIterable<unknown>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if (readStreams.has(stream)) alreadyRead();
  readStreams.add(stream);
  const chunks = chunksOf(stream);
  const collected: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await untilAborted(chunks.next(), signal);
      if (done) return new Uint8Array(Buffer.concat(collected));
      const chunk = bytesOf(value);
      length += chunk.length;
      if (length > MAX_IMAGE_BYTES) tooLarge("The image in the stream");
      // Copied, because a source may fill one buffer again and again.
      collected.push(Uint8Array.from(chunk));
    }
  } catch (error) {
    chunks.stop(error);
    throw error;
  }
}

interface Chunks {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Notifies the source that no more is wanted, and does not wait for it. */
  stop(reason: unknown): void;
}

function chunksOf(stream: ReadableStream<unknown> | AsyncIterable<unknown>): Chunks {
  if (isWebStream(stream)) {
    if (stream.locked) alreadyRead();
    const reader = stream.getReader();
    return { next: () => reader.read(), stop: (reason) => ignore(reader.cancel(reason)) };
  }
  // A Node stream that has ended, or was destroyed, would look like an empty image.
  const used = ["readableEnded", "destroyed", "readableDidRead"];
  if (used.some((name) => name in stream && Reflect.get(stream, name) === true)) alreadyRead();
  const iterator = stream[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    stop: () => {
      if ("destroy" in stream && typeof stream.destroy === "function") stream.destroy();
      else ignore(iterator.return?.());
    },
  };
}

function alreadyRead(): never {
  return refuse(
    undefined,
    "The stream was read before: pass a new stream for each try, or the bytes.",
  );
}

function bytesOf(value: unknown): Uint8Array {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (isAnyArrayBuffer(value)) return new Uint8Array(value);
  return refuse(undefined, `The stream gives ${typeof value}s, not bytes: set no encoding on it.`);
}

function ignore(promise: Promise<unknown> | undefined): void {
  promise?.catch(() => undefined);
}

/**
 * Waits for a promise, or leaves it behind as soon as the signal aborts.
 *
 * @throws the reason of the signal
 */
export async function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Reads a file, and never more of it than the limit.
 *
 * @throws {ApiError} TOO_LARGE; {ServiceBotError} INVALID_OPTION if it is no file that can be read
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
    return await readToEnd(file, path, stat.size, signal);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) unreadable(path, error);
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

async function readToEnd(
  file: FileHandle,
  path: string,
  size: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  // One byte of room more shows that the file grows.
  const buffer = new Uint8Array(size + 1);
  let length = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    length += bytesRead;
    if (length > size) {
      refuse(undefined, `"${path}" grew while it was read; wait until it is whole.`);
    }
    if (bytesRead === 0) return buffer.subarray(0, length);
  }
}

/** Reasons by the code of a system error. */
const reasons: readonly (readonly [code: string, reason: string])[] = [
  ["ENOENT", "there is no such file"],
  ["EACCES", "it is not permitted"],
  ["EPERM", "it is not permitted"],
  ["ENXIO", "it is a socket or a device, not a file"],
];

/** @throws {ServiceBotError} INVALID_OPTION */
function unreadable(path: string, cause: unknown): never {
  const why = reasons.find(([code]) => hasCode(cause, code))?.[1] ?? messageOf(cause);
  const hints = hasCode(cause, "ENOENT")
    ? " If it is the key of an upload, pass { key }." +
      (path.startsWith("~") ? " The shell expands ~, and Node does not." : "")
    : "";
  return refuse(undefined, `The image "${path}" cannot be read: ${why}.${hints}`, { cause });
}
