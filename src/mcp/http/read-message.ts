import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import { MAX_HTTP_MESSAGE_BYTES } from "../limits.ts";
import { refusal } from "./answers.ts";

const CLOSE = { Connection: "close" };

/** Reads the body of a request, at most {@link MAX_HTTP_MESSAGE_BYTES}. @returns the refusal otherwise */
export async function readMessage(request: IncomingMessage): Promise<Uint8Array | Response> {
  try {
    const length = request.headers["content-length"] ?? null;
    return await getRawBody(request, { limit: MAX_HTTP_MESSAGE_BYTES, length });
  } catch (error) {
    const isTooLarge =
      error instanceof Error && "type" in error && error.type === "entity.too.large";
    return isTooLarge
      ? refusal(413, `A message holds at most ${MAX_HTTP_MESSAGE_BYTES} bytes.`, CLOSE)
      : refusal(400, "The body is incomplete.", CLOSE, -32_700);
  }
}
