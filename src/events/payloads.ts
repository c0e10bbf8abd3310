import { idText } from "./id.ts";
import type {
  ActivityPayload,
  Actor,
  DmMessagePayload,
  EventType,
  FollowPayload,
  PayloadByType,
  Sender,
} from "./types.ts";

// Section 6 names the fields of a payload and shows no types. So a payload needs only what no handler can do without.

type Fields = Readonly<Record<string, unknown>>;

/** Problem of a payload, as `path: problem`; never a value from the event. */
export class PayloadProblem {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Reader<T> = (payload: Fields) => T | PayloadProblem;

/** Reads the payload of each type: ids become texts, and optional fields of another kind become absent. */
export const payloadReaders: { readonly [T in EventType]: Reader<PayloadByType[T]> } = {
  "dm.message": readDirectMessage,
  mention: readAnswerable,
  comment: readAnswerable,
  reply: readAnswerable,
  follow: readFollow,
  like: readActivity,
  repost: readActivity,
  quote: readActivity,
};

function readDirectMessage(payload: Fields): DmMessagePayload | PayloadProblem {
  const conversationId = idText(payload["conversationId"]);
  if (conversationId === undefined) return missing("conversationId:");
  const from = readSender(payload["from"]);
  return { ...payload, conversationId, from, excerpt: plainText(payload["excerpt"]) ?? "" };
}

function readFollow(payload: Fields): FollowPayload | PayloadProblem {
  const actor = readActor(payload["actor"]);
  if (actor.username === "") return missing("actor.username:");
  return { ...payload, ...readEntity(payload), actor };
}

function readActivity(payload: Fields): ActivityPayload {
  return {
    ...payload,
    ...readEntity(payload),
    actor: readActor(payload["actor"]),
    excerpt: plainText(payload["excerpt"]),
    postId: idText(payload["postId"]),
    commentId: idText(payload["commentId"]),
  };
}

/** Activity that calls for an answer, which needs a place. */
function readAnswerable(payload: Fields): ActivityPayload | PayloadProblem {
  const activity = readActivity(payload);
  const isPlaced = activity.entityId !== undefined || activity.postId !== undefined;
  return isPlaced ? activity : missing("entityId: this or postId");
}

function readEntity(payload: Fields): Pick<FollowPayload, "entityType" | "entityId"> {
  return { entityType: plainText(payload["entityType"]), entityId: idText(payload["entityId"]) };
}

function readSender(from: unknown): Sender {
  const fields = fieldsOf(from);
  return { ...readActor(fields), userId: idText(fields["userId"]) };
}

function readActor(actor: unknown): Actor {
  const fields = fieldsOf(actor);
  const username = idText(fields["username"]) ?? "";
  // `||`: an empty name is no name.
  return { ...fields, username, name: plainText(fields["name"]) || username };
}

/** The fields of an object; of any other value none. */
function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A text, or a number as text. Any other value counts as absent. */
function plainText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}

function missing(field: string): PayloadProblem {
  return new PayloadProblem(`payload.${field} must be a text that is not empty, or a whole number`);
}
