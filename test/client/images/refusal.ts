import { ApiError } from "../../faces/client.ts";
import { ServiceBotError } from "../../faces/errors.ts";

/** What an image was refused with. */
export interface Refusal {
  readonly code: string;
  /** The platform's code, where it would have refused it too. */
  readonly platformCode: string | undefined;
  readonly message: string;
  readonly cause?: unknown;
}

/** A refusal before anything was sent; whatever else was thrown goes on. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof ApiError && error.local && error.status === 400) return error;
  if (!(error instanceof ServiceBotError) || error.code !== "INVALID_OPTION") throw error;
  const { code, message, cause } = error;
  return { code, platformCode: undefined, message, cause };
}

/** The refusal that something ends in; any other ending, and any other error, fails the test. */
export async function refusal(act: () => unknown): Promise<Refusal> {
  try {
    await act();
  } catch (error) {
    return refusalOf(error);
  }
  throw new Error("It was not refused.");
}
