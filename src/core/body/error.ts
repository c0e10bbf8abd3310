/**
 * Why a body was not read: over the limit; broken off, or of another length than announced; not whole in time; given
 * up because other bodies need the memory; in too many pieces; or already read by other code.
 */
export type BodyProblem =
  | "too_large"
  | "incomplete"
  | "length_mismatch"
  | "timeout"
  | "busy"
  | "fragmented"
  | "already_read";

/** A body that was not read. Each server answers it in the form of its own protocol. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly problem: BodyProblem;

  constructor(problem: BodyProblem, options?: ErrorOptions) {
    super(`The body cannot be read: ${problem}.`, options);
    this.problem = problem;
  }
}
