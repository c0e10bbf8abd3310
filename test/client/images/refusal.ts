import { InputError } from "../../../src/client/images/refuse.ts";

/** The refusal that something ends in; any other ending, and any other error, fails the test. */
export async function refusal(act: () => unknown): Promise<InputError> {
  try {
    await act();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}
