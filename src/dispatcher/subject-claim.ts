import type { Subject } from "../core/step.ts";
import type { StepRecords } from "./step-records.ts";

/** The steps by which an event has its {@link Subject}. */
const STEPS = { ref: "sole", kindRef: "sole/kind" } as const;

/** `free` concerns an event of which another subject is claimed. Nothing of it is given back. */
type Standing = "new" | "old" | "free" | "taken";

/**
 * The claim of one run to be the event that answers a subject. It is recorded before anything is sent, and given back
 * when it has come to nothing for certain.
 */
export class SubjectClaim {
  readonly #records: StepRecords;
  #standing: Promise<Standing> | undefined;
  /** Steps of this run that have answered, or may have. */
  #answers = 0;

  constructor(records: StepRecords) {
    this.#records = records;
  }

  /** Does the work if the subject is this event's; `undefined` if another event has it. */
  async run<T>(subject: Subject, work: () => Promise<T>): Promise<T | undefined> {
    this.#standing ??= this.#claim(subject);
    if ((await this.#standing) === "taken") return undefined;
    this.#answers += 1;
    return await work();
  }

  /**
   * Gives the subject back after an effect that cannot have happened, unless another step of this run has answered, or may
   * have. A claim of an earlier run stays, because that run may have answered.
   */
  async release(): Promise<void> {
    this.#answers -= 1;
    if (this.#answers > 0 || (await this.#standing) !== "new") return;
    this.#standing = undefined;
    await this.#records.unclaim(STEPS.ref);
    await this.#records.unclaim(STEPS.kindRef);
  }

  async #claim({ ref, kindRef }: Subject): Promise<Standing> {
    if ((await this.#records.claim(STEPS.kindRef, kindRef)) === "taken") return "free";
    return await this.#records.claim(STEPS.ref, ref);
  }
}
