import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hasCode } from "../../errors.ts";
import { MAX_MESSAGE_BYTES } from "../limits.ts";
import { toWebRequest } from "../sdk.ts";
import type { Admitted } from "./admission.ts";
import { refusal } from "./answers.ts";

/** Takes the requests of a server of Node. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What answers a request, in two steps. */
export interface Answering {
  /** Whose request it is, by its head; or why it may not come in. */
  readonly admit: (request: IncomingMessage) => Promise<Admitted | Response>;
  readonly serve: (request: Request, admitted: Admitted) => Promise<Response>;
  readonly onError: (error: unknown) => void;
}

/** Answers requests of a server of Node. The body of one that is refused by its head is not read. */
export function nodeListener({ admit, serve, onError }: Answering): NodeListener {
  return async (request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      const admitted = await admit(request);
      if (gone.signal.aborted) return;
      if (admitted instanceof Response) {
        admitted.headers.set("Connection", "close");
        await send(response, admitted);
        return;
      }
      // Types of Node whose fields may be undefined; the SDK's are a part of them.
      const whole = await toWebRequest(request as Parameters<typeof toWebRequest>[0], undefined, {
        signal: gone.signal,
        maxRequestBodySize: MAX_MESSAGE_BYTES,
      });
      await send(response, await serve(whole, admitted));
    } catch (error) {
      if (gone.signal.aborted) return;
      const answer = isTooLarge(error)
        ? refusal(413, `A message holds at most ${MAX_MESSAGE_BYTES} bytes.`, CLOSE)
        : refusal(500, "The MCP server has failed; its log says more.", CLOSE, -32_603);
      if (answer.status === 500) onError(error);
      if (response.headersSent) response.destroy();
      else await send(response, answer);
    }
  };
}

const CLOSE = { Connection: "close" };

async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  if (response.destroyed) {
    // Nobody is there to read: what would be written must know.
    await body?.cancel();
    return;
  }
  response.writeHead(status, Object.fromEntries(headers));
  // A stream may have nothing to say for long; that it is open is to be known at once.
  response.flushHeaders();
  if (body === null) {
    response.end();
    return;
  }
  try {
    await pipeline(Readable.fromWeb(body), response);
  } catch (error) {
    // Whoever has asked is gone.
    if (!hasCode(error, "ERR_STREAM_PREMATURE_CLOSE")) throw error;
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.name === "RequestBodyTooLargeError";
}
