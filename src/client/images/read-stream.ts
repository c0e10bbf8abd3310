import { isAnyArrayBuffer } from "node:util/types";
import { untilAborted } from "./aborted.ts";
import { MAX_IMAGE_BYTES, tooLarge } from "./limits.ts";
import { refuse } from "./refuse.ts";
import { isReadable } from "./source.ts";

/** A web stream, a Node stream or anything else that gives bytes piece by piece. */
export type ByteStream = ReadableStream<unknown> | AsyncIterable<unknown>;

/** A stream while it is read. */
interface Pieces {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Tells the source that no more is wanted; does not wait for it. */
  stop(reason: unknown): void;
}

/** What became of the streams that were read: a stream gives its bytes once, and retries want them again. */
const readings = new WeakMap<object, Promise<Uint8Array<ArrayBuffer>>>();

/**
 * The bytes of a stream. It is stopped as soon as it has given more than an image may have. Reading the
 * same stream again gives the same bytes, or fails as it did.
 *
 * @throws {ApiError} TOO_LARGE; {ServiceBotError} INVALID_OPTION for a stream that gives no bytes
 * @throws the reason of the signal, and whatever the stream fails with
 */
export async function readStream(
  stream: ByteStream,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const known = readings.get(stream);
  if (known !== undefined) return untilAborted(known, signal);
  const reading = collect(piecesOf(stream), signal);
  readings.set(stream, reading);
  try {
    return await reading;
  } catch (error) {
    if (signal?.aborted) readings.set(stream, halfRead());
    throw error;
  }
}

async function collect(
  pieces: Pieces,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const collected: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await untilAborted(pieces.next(), signal);
      if (done) return joined(collected, length);
      const piece = bytesOf(value);
      length += piece.length;
      if (length > MAX_IMAGE_BYTES) tooLarge("The image in the stream");
      // A source may fill one buffer again and again.
      collected.push(Uint8Array.from(piece));
    }
  } catch (error) {
    pieces.stop(error);
    throw error;
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function piecesOf(stream: ByteStream): Pieces {
  if (isReadable(stream)) return ofWebStream(stream);
  refuseUsed(stream);
  const iterator = stream[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    stop: () => {
      if ("destroy" in stream && typeof stream.destroy === "function") stream.destroy();
      else ignore(iterator.return?.());
    },
  };
}

function ofWebStream(stream: ReadableStream<unknown>): Pieces {
  if (stream.locked) alreadyRead();
  const reader = stream.getReader();
  return { next: () => reader.read(), stop: (reason) => ignore(reader.cancel(reason)) };
}

/** A Node stream that has ended, or was destroyed, would look like an empty image. */
function refuseUsed(stream: object): void {
  const used = ["readableEnded", "destroyed", "readableDidRead"];
  if (used.some((name) => name in stream && Reflect.get(stream, name) === true)) alreadyRead();
}

function alreadyRead(): never {
  return refuse(
    undefined,
    "The stream has been read already, by somebody else: pass a new one, or the bytes.",
  );
}

/** Somebody may be waiting for it or nobody: an unhandled rejection would end the process. */
function halfRead(): Promise<Uint8Array<ArrayBuffer>> {
  const failed = (async () =>
    refuse(
      undefined,
      "The stream was read in part by a try that was aborted: pass a new one for each try, or the bytes.",
    ))();
  failed.catch(() => undefined);
  return failed;
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
