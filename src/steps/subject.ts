import type { StepRecords } from "./records.ts";
import type { Subject } from "./step.ts";

const STEPS = { ref: "sole", kindRef: "sole/kind" } as const;

/** `earlier`: an earlier run of this event has claimed the ref. */
type RefClaim = "new" | "earlier" | "taken";

/**
 * `other`: another event of this type has claimed the subject, so this event has a different subject. No claim is
 * released.
 */
type Standing = RefClaim | "other";

/**
 * Claims a subject for the event of one run. The claim is recorded before anything is sent, and released if nothing was
 * sent.
 */
export class SubjectClaim {
  readonly #records: StepRecords;
  #standing: Promise<Standing> | undefined;
  /** Number of steps in this run that have replied or may have replied. */
  #answers = 0;

  constructor(records: StepRecords) {
    this.#records = records;
  }

  /** Returns whether this event may reply to the subject. False if another event has claimed it. */
  async acquire(subject: Subject): Promise<boolean> {
    this.#standing ??= this.#claim(subject);
    if ((await this.#standing) === "taken") return false;
    this.#answers += 1;
    return true;
  }

  /**
   * Releases the subject if the effect did not happen, unless another step of this run may have replied. A claim by an
   * earlier run is kept, because that run may have replied.
   */
  async release(): Promise<void> {
    this.#answers -= 1;
    if (this.#answers > 0 || (await this.#standing) !== "new") return;
    this.#standing = undefined;
    await this.#records.forget(STEPS.ref);
    await this.#records.forget(STEPS.kindRef);
  }

  async #claim({ ref, kindRef }: Subject): Promise<Standing> {
    if ((await this.#claimRef(STEPS.kindRef, kindRef)) === "taken") return "other";
    return await this.#claimRef(STEPS.ref, ref);
  }

  async #claimRef(step: string, ref: string): Promise<RefClaim> {
    const start = await this.#records.begin(step, "");
    if (start.state === "done") return "earlier";
    if (await this.#records.reconcile(step, { result: undefined, ref })) return "new";
    await this.#records.markAbsent(step);
    return "taken";
  }
}
