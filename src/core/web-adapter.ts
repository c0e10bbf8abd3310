import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { dropBody } from "./body.ts";
import { BodyError, SmallPieces } from "./body-budget.ts";
import { readTarget } from "./request-target.ts";

/** Size of the buffer for unread parts of a body, in bytes. Same as Node's own stream buffer. */
const BODY_BUFFER_BYTES = 65_536;

/** Maximum known length, in bytes, of a response that is sent in one piece. */
const MAX_WHOLE_BYTES = 1_048_576;

const INVALID = "The method or the Host header is not supported.\n";

/** Handles a web-standard request. `original` provides what a `Request` lacks, such as the socket. */
export type WebHandler = (request: Request, original: IncomingMessage) => Promise<Response>;

/**
 * Creates a `node:http` listener from a web-standard handler. The request's signal aborts when the client disconnects
 * or the response has been sent.
 *
 * @param onError called if the handler throws or the response cannot be sent; the connection is then closed
 */
export function toNodeListener(
  handle: WebHandler,
  onError: (error: unknown) => void,
): RequestListener {
  return async (request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      const webRequest = tryConvert(request, gone.signal);
      const answer = webRequest
        ? await handle(webRequest, request)
        : new Response(INVALID, { status: 400 });
      await sendWebResponse(response, answer);
    } catch (error) {
      if (!gone.signal.aborted) onError(error);
      response.destroy();
    } finally {
      dropBody(request);
    }
  };
}

/** Returns `undefined` for a request that `Request` cannot represent, such as a TRACE request. */
function tryConvert(request: IncomingMessage, ended: AbortSignal): Request | undefined {
  try {
    return toWebRequest(request, ended);
  } catch {
    return undefined;
  }
}

/**
 * Converts a Node request. The body is streamed as the handler reads it, or `null` if the headers announce no body.
 *
 * @param ended aborts when the exchange has ended or the client has disconnected
 * @throws {TypeError} if the web standard does not allow the method or the URL
 */
export function toWebRequest(request: IncomingMessage, ended?: AbortSignal): Request {
  const { method = "GET", rawHeaders, headers, url = "/" } = request;
  const headerList = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headerList.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  const address = addressOf(url, headers.host);
  const isAnnounced =
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  const hasBody = isAnnounced && method !== "GET" && method !== "HEAD";
  const source = new BodySource(request, ended);
  const body = hasBody ? new ReadableStream(source, { highWaterMark: 0 }) : null;
  const init: RequestInit & { readonly duplex: "half" } = {
    method,
    headers: headerList,
    body,
    signal: ended ?? null,
    // Required if the body is a stream.
    duplex: "half",
  };
  return new Request(address, init);
}

/** Returns the URL of a request. The Host header may contain anything. */
function addressOf(target: string, host = "localhost"): string {
  const { authority = host, path, query } = readTarget(target);
  // `OPTIONS *` has no path, but a URL has one. A `#` would begin a fragment, which a request cannot have.
  const route = `${path.startsWith("/") ? "" : "/"}${path}${query && `?${query}`}`;
  return (
    URL.parse(`http://${authority}${route.replaceAll("#", "%23")}`)?.href ?? "http://localhost/"
  );
}

/** Sends a response. If the client disconnects, the response's stream is cancelled. */
export async function sendWebResponse(response: ServerResponse, answer: Response): Promise<void> {
  const { status, headers, body } = answer;
  if (response.destroyed) {
    await body?.cancel();
    return;
  }
  response.writeHead(status, [...headers].flat());
  if (body === null) {
    response.end();
    return;
  }
  // Streaming would be several times slower.
  if (Number(headers.get("content-length") ?? Infinity) <= MAX_WHOLE_BYTES) {
    response.end(new Uint8Array(await answer.arrayBuffer()));
    return;
  }
  // The stream may stay silent for a long time, but the client must see at once that it is open.
  response.flushHeaders();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { signal } = gone;
  const sink = new WritableStream<Uint8Array>({
    async write(piece) {
      if (!response.write(piece)) await once(response, "drain", { signal });
    },
    close: () => void response.end(),
  });
  await body.pipeTo(sink, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/**
 * Streams a request's body. Joins the chunks of one turn of the event loop, because a sender can send chunks of a
 * single byte, and V8 can keep every read of a web stream alive until its next full collection. A body in too many
 * {@link SmallPieces} fails with {@link BodyError} `fragmented`.
 *
 * Cancelling discards the rest instead of closing the connection, so that the sender still receives the response. The
 * rest is also discarded when the exchange ends.
 */
class BodySource {
  readonly #request: IncomingMessage;
  readonly #ended: AbortSignal | undefined;
  readonly #unread = new UnreadBytes();
  readonly #smallPieces = new SmallPieces();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** True while a reader waits for the next chunk. */
  #isAwaited = false;

  constructor(request: IncomingMessage, ended: AbortSignal | undefined) {
    this.#request = request;
    this.#ended = ended;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#request.on("data", this.#take).once("end", this.#end).once("close", this.#breakOff);
    this.#ended?.addEventListener("abort", this.#breakOff);
  }

  pull(): void {
    this.#isAwaited = !this.#flush();
    this.#request.resume();
  }

  cancel(): void {
    this.#unread.take();
    this.#request.off("data", this.#take).off("end", this.#end).off("close", this.#breakOff);
    dropBody(this.#request);
  }

  readonly #take = (piece: Uint8Array): void => {
    if (this.#smallPieces.exceedWith(piece)) {
      this.#fail(new BodyError("fragmented"));
    } else if (!this.#unread.add(piece)) {
      this.#flush();
      this.#controller?.enqueue(piece);
      this.#isAwaited = false;
      this.#request.pause();
    } else if (this.#isAwaited) {
      this.#isAwaited = false;
      // More chunks may arrive in this turn.
      setImmediate(() => this.#flush());
    }
  };

  readonly #end = (): void => {
    this.#flush();
    this.#controller?.close();
    this.#request.off("close", this.#breakOff);
  };

  readonly #breakOff = (): void =>
    this.#fail(new TypeError("The request ended before its body was complete."));

  #fail(error: Error): void {
    this.#controller?.error(error);
    this.cancel();
  }

  /** Passes on the unread chunks. Returns false if there are none. */
  #flush(): boolean {
    const bytes = this.#unread.take();
    if (bytes !== undefined) this.#controller?.enqueue(bytes);
    return bytes !== undefined;
  }
}

/** Chunks that no reader has taken. A single chunk is not copied. */
class UnreadBytes {
  #first: Uint8Array | undefined;
  #joined: Uint8Array | undefined;
  #length = 0;

  /** Adds a chunk. Returns false, without adding it, if it does not fit. */
  add(piece: Uint8Array): boolean {
    if (this.#length + piece.byteLength > BODY_BUFFER_BYTES) return false;
    if (this.#first === undefined) {
      this.#first = piece;
    } else {
      this.#joined ??= joined(this.#first);
      this.#joined.set(piece, this.#length);
    }
    this.#length += piece.byteLength;
    return true;
  }

  take(): Uint8Array | undefined {
    const taken = this.#joined?.slice(0, this.#length) ?? this.#first;
    this.#first = undefined;
    this.#joined = undefined;
    this.#length = 0;
    return taken;
  }
}

function joined(first: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(BODY_BUFFER_BYTES);
  bytes.set(first);
  return bytes;
}
