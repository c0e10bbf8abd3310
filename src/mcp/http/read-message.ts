import type { IncomingMessage } from "node:http";
import type { BodyBudget } from "../../core/body/budget.ts";
import { BodyError, type BodyProblem } from "../../core/body/error.ts";
import { readRequestBody } from "../../core/body/read.ts";
import { MAX_HTTP_MESSAGE_BYTES } from "../limits.ts";
import { refusal, unavailable } from "./answers.ts";

/** In ms. A body takes at most some seconds, and so does the room that it makes. */
const RETRY_AFTER_MS = 5_000;

/** Reads the body of a request, at most {@link MAX_HTTP_MESSAGE_BYTES}. @returns the refusal otherwise */
export async function readMessage(
  request: IncomingMessage,
  budget: BodyBudget,
): Promise<Uint8Array | Response> {
  try {
    return await readRequestBody(request, { limit: MAX_HTTP_MESSAGE_BYTES, budget });
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    return refuse(error.problem);
  }
}

function refuse(problem: BodyProblem): Response {
  switch (problem) {
    case "too_large":
      return refusal(413, `A message holds at most ${MAX_HTTP_MESSAGE_BYTES} bytes.`);
    case "busy":
      return unavailable("Too many messages are under way: try again.", RETRY_AFTER_MS);
    case "timeout":
      return refusal(408, "The message was not complete in time.");
    default:
      return refusal(400, `The message cannot be read: ${problem}.`, {}, -32_700);
  }
}
