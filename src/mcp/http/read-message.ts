import type { IncomingMessage } from "node:http";
import type { BodyBudget, BodyBuffer } from "../../core/body/budget.ts";
import { BodyError, type BodyProblem } from "../../core/body/error.ts";
import { receiveRequestBody } from "../../core/body/read.ts";
import { MAX_HTTP_MESSAGE_BYTES } from "../limits.ts";
import { refusal, unavailable } from "./answers.ts";

/** In ms. A body takes at most some seconds, and so does the room that it makes. */
const RETRY_AFTER_MS = 5_000;

/** The body of a request. Its bytes stay in the budget until they are taken, also when all of them have arrived. */
export class ArrivingMessage {
  readonly #body: Promise<BodyBuffer>;

  /** Begins to read a body of at most {@link MAX_HTTP_MESSAGE_BYTES}. The caller ends it with {@link release}. */
  constructor(request: IncomingMessage, budget: BodyBudget) {
    this.#body = receiveRequestBody(request, { limit: MAX_HTTP_MESSAGE_BYTES, budget });
    this.#body.catch(() => undefined);
  }

  /** Takes the body once it is complete. @returns the refusal otherwise */
  async take(): Promise<Uint8Array | Response> {
    try {
      return (await this.#body).take();
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      return refuse(error.problem);
    }
  }

  /** Frees the bytes once the body is complete. An incomplete body ends with its connection. */
  release(): void {
    this.#body.then(
      (body) => body.release(),
      () => undefined,
    );
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
