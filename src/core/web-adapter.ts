import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { dropBody } from "./body.ts";

/** In bytes. A body that waits unread holds no more than this, as in a stream of Node's own. */
const BODY_BUFFER_BYTES = 65_536;

/** In bytes. Answers of an announced length up to this are sent whole. */
const MAX_WHOLE_BYTES = 1_048_576;

const INVALID = "The method or the Host header is not supported.\n";

/** Handles a web-standard request. The original carries what a `Request` cannot, such as the socket. */
export type WebHandler = (request: Request, original: IncomingMessage) => Promise<Response>;

/**
 * Serves a web-standard handler from a `node:http` server. The signal of a request aborts once its client is gone, or
 * the answer is sent.
 *
 * @param onError called with failures of the handler and of sending; the connection is closed then
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

/** Returns `undefined` for a request that no web-standard one can be, such as TRACE, or with a password in its Host. */
function tryConvert(request: IncomingMessage, ended: AbortSignal): Request | undefined {
  try {
    return toWebRequest(request, ended);
  } catch {
    return undefined;
  }
}

/**
 * Converts a request. The body is read as the handler asks for it; `null` if none is announced.
 *
 * @param ended aborts when the exchange has ended, or its client is gone
 * @throws {TypeError} The web standard refuses the method or the address.
 */
export function toWebRequest(request: IncomingMessage, ended?: AbortSignal): Request {
  const { method = "GET", rawHeaders, headers, url = "/" } = request;
  const headerList = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headerList.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  const origin = `http://${headers.host ?? "localhost"}`;
  // A request line may hold a whole address, and a Host header anything.
  const address = URL.parse(url.startsWith("/") ? origin + url : url) ?? "http://localhost/";
  const isAnnounced =
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  const hasBody = isAnnounced && method !== "GET" && method !== "HEAD";
  const body = hasBody ? bodyOf(request, ended) : null;
  const init: RequestInit & { readonly duplex: "half" } = {
    ...{ method, headers: headerList, body, signal: ended ?? null },
    // Required with a stream as the body.
    duplex: "half",
  };
  return new Request(address, init);
}

/** Sends an answer. A reader that is gone cancels the stream of the answer. */
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
  // Whole already: a stream would take several times as long.
  if (Number(headers.get("content-length") ?? Infinity) <= MAX_WHOLE_BYTES) {
    response.end(new Uint8Array(await answer.arrayBuffer()));
    return;
  }
  // A stream may stay silent for long; the client must see at once that it is open.
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
 * Streams the body of a request. Pieces that no reader waits for are copied together, because a sender can make them one
 * byte long. Cancelling drops the rest instead of closing the connection, so that the sender still receives the answer.
 * The end of the exchange drops it as well.
 */
function bodyOf(
  request: IncomingMessage,
  ended: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const unread = new UnreadBytes();
  let isAwaited = false;
  let drop = () => {};
  return new ReadableStream(
    {
      start(controller) {
        const take = (piece: Uint8Array) => {
          if (isAwaited) {
            isAwaited = false;
            controller.enqueue(piece);
          } else if (!unread.add(piece)) {
            for (const bytes of [unread.take(), piece]) if (bytes) controller.enqueue(bytes);
            request.pause();
          }
        };
        const fail = () =>
          controller.error(new TypeError("The request ended before its body was complete."));
        const end = () => {
          request.off("close", fail);
          const rest = unread.take();
          if (rest !== undefined) controller.enqueue(rest);
          controller.close();
        };
        request.on("data", take).once("end", end).once("close", fail);
        drop = () => {
          request.off("data", take).off("end", end).off("close", fail);
          dropBody(request);
        };
        ended?.addEventListener("abort", () => {
          fail();
          drop();
        });
      },
      pull(controller) {
        const piece = unread.take();
        if (piece === undefined) isAwaited = true;
        else controller.enqueue(piece);
        request.resume();
      },
      cancel: () => drop(),
    },
    { highWaterMark: 0 },
  );
}

/** Bytes that wait for a reader, in one piece. */
class UnreadBytes {
  #bytes: Uint8Array | undefined;
  #length = 0;

  /** Copies a piece, and returns whether all of it has found room. */
  add(piece: Uint8Array): boolean {
    if (this.#length + piece.byteLength > BODY_BUFFER_BYTES) return false;
    this.#bytes ??= new Uint8Array(BODY_BUFFER_BYTES);
    this.#bytes.set(piece, this.#length);
    this.#length += piece.byteLength;
    return true;
  }

  /** Returns the bytes, and forgets them; `undefined` if there are none. */
  take(): Uint8Array | undefined {
    if (this.#bytes === undefined || this.#length === 0) return undefined;
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }
}
