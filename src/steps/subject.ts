import { createHash } from "node:crypto";
import { idText } from "../events/id.ts";
import { actorOf } from "../events/lane.ts";
import type { AnyEvent } from "../events/types.ts";
import type { StepRecords } from "./records.ts";
import type { Subject } from "./step.ts";

/** One comment can be all of these at once (section 6). */
const COMMENT_TYPES: ReadonlySet<string> = new Set(["mention", "comment", "reply"]);

/**
 * Names the comment that an event is about, so that one of several events of a comment is answered. `undefined` where the
 * event names no comment. The document does not show whether the `commentId` of a `reply` is the new comment. If it is the
 * comment above, two replies of one person have one name, but they have one type as well: a comment makes one event of each.
 */
export function subjectOf(event: AnyEvent): Subject | undefined {
  if (!COMMENT_TYPES.has(event.type)) return undefined;
  const { commentId, entityType, entityId }: Readonly<Record<string, unknown>> = {
    ...event.payload,
  };
  const id = idText(commentId) ?? (entityType === "comment" ? idText(entityId) : undefined);
  if (id === undefined) return undefined;
  const content = JSON.stringify([id, actorOf(event)]);
  const ref = `content:${createHash("sha256").update(content).digest("base64url")}`;
  return { ref, kindRef: `${ref}:${event.type}` };
}

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
