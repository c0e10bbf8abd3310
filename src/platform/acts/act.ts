import { readFileSync } from "node:fs";
import { invalid, notFound } from "../error.ts";
import type { EventWriter } from "../events/publisher.ts";
import { seqOf } from "../store/ids.ts";
import { attachUploads, type NewImage, newImageFile, type Target } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Comment, Post } from "../store/posts.ts";
import type { Store } from "../store/store.ts";
import type { Created } from "../timeline/entries.ts";
import type { ActInput } from "./input.ts";

/** One act with everything it needs. */
export interface Act {
  readonly store: Store;
  readonly write: EventWriter;
  /** The acting account: a person, or a bot. */
  readonly from: User;
  /** The bot that it is said to concern; undefined where nothing is said. */
  readonly to: User | undefined;
  readonly input: ActInput;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Result of an act, besides its events. */
export interface Outcome {
  readonly concerns: Created;
  /** The written content, if any. */
  readonly made?: Target;
}

/**
 * The bot that an act concerns: the one that was named, else the owner of the content that was named, else
 * the first bot.
 */
export function recipientOf({ store, from, to }: Act, owner?: number): User {
  const ownerBot = owner === undefined || owner === from.seq ? undefined : store.people.get(owner);
  const recipient = to ?? (ownerBot?.isBot === true ? ownerBot : store.people.bot());
  if (recipient.seq !== from.seq) return recipient;
  const what = `${from.username} does this to itself, which makes no event`;
  throw invalid(`${what}; name another bot in to, or somebody else in from`);
}

/** The post that was named, anybody's, or the newest of the bot concerned. */
export function postOf(act: Act): Post {
  const { store, input } = act;
  if (input.postId === undefined) {
    const recipient = recipientOf(act);
    const post = store.posts.newestPost(recipient.seq);
    if (post !== undefined) return post;
    const { username } = recipient;
    throw notFound(`post of ${username}: an act of type post, from ${username}, makes one`);
  }
  return ownedAsSaid(act, postNamed(store, input.postId), input.postId);
}

/** The comment that was named, anybody's. */
export function commentNamed(act: Act, commentId: string): Comment {
  const seq = seqOf("cm", commentId);
  const comment = seq === undefined ? undefined : act.store.posts.comment(seq);
  if (comment === undefined) throw notFound(`comment: ${commentId}`);
  return ownedAsSaid(act, comment, commentId);
}

export function postNamed({ posts }: Store, postId: string): Post {
  const seq = seqOf("p", postId);
  const post = seq === undefined ? undefined : posts.post(seq);
  if (post === undefined) throw notFound(`post: ${postId}`);
  return post;
}

/** Returns the content. Refuses the act if it names another account than the author. */
function ownedAsSaid<T extends Post | Comment>({ to }: Act, content: T, id: string): T {
  if (to === undefined || content.author === to.seq) return content;
  throw invalid(`${id} is of ${content.authorUsername}, not of ${to.username}`);
}

/** A drawing of 640 × 480 pixels and its preview: what is attached when an act asks for images. */
interface Sample {
  readonly data: Buffer;
  readonly thumbnail: Buffer;
}

let sample: Sample | undefined;

/** Adds the images of the act to what it made: those that were uploaded, then as many samples as it asks for. */
export function attachImages({ store, from, input, at }: Act, target: Target): void {
  const { images = 0, imageKeys = [] } = input;
  attachUploads(store.images, imageKeys, { ...target, owner: from.seq, now: at });
  for (let position = imageKeys.length; position < imageKeys.length + images; position += 1) {
    store.images.addTo(target, sampleImage(from.seq, at), position);
  }
}

function sampleImage(owner: number, at: number): NewImage {
  sample ??= { data: read("sample.png"), thumbnail: read("sample.thumb.webp") };
  return { ...sample, file: newImageFile("png"), owner, kind: "png", width: 640, height: 480, at };
}

function read(name: string): Buffer {
  return readFileSync(new URL(name, import.meta.url));
}
