import { profileOf } from "../apps/shapes.ts";
import { commentIds, idOf } from "../store/ids.ts";
import type { Post } from "../store/posts.ts";
import { type Act, commentNamed, type Outcome, postOf, recipientOf } from "./act.ts";

// `entityType` and `entityId` name what the act was done to: it makes nothing of its own. The document shows
// neither, see docs/platform.md.

/** Somebody follows a bot. */
export function followBot(act: Act): Outcome {
  const recipient = recipientOf(act);
  const entity = { entityType: "user", entityId: idOf("u", recipient.seq) };
  act.write.notice(
    { recipient, event: { type: "follow", payload: { actor: profileOf(act.from), ...entity } } },
    act,
  );
  return { concerns: {} };
}

/** Somebody likes a post or a comment. */
export function likeContent(act: Act): Outcome {
  const { commentId } = act.input;
  if (commentId === undefined) return reactToPost("like", act);
  const comment = commentNamed(act, commentId);
  const concerns = commentIds(comment);
  tellOwner("like", act, comment, { entityType: "comment", entityId: commentId, ...concerns });
  return { concerns };
}

/** Somebody reposts a post. */
export function repostPost(act: Act): Outcome {
  return reactToPost("repost", act);
}

/** An event of a type that nobody knows yet, with whatever it was said to hold. */
export function inventedEvent(act: Act): Outcome {
  const { type, payload = {} } = act.input;
  act.write.notice({ recipient: recipientOf(act), event: { type, payload } }, act);
  return { concerns: {} };
}

function reactToPost(type: "like" | "repost", act: Act): Outcome {
  const post = postOf(act);
  act.store.posts.react(post.seq, type);
  const postId = idOf("p", post.seq);
  tellOwner(type, act, post, { entityType: "post", entityId: postId, postId });
  return { concerns: { postId } };
}

interface Place {
  readonly entityType: string;
  readonly entityId: string;
  readonly postId: string;
}

/** People need no event. */
function tellOwner(
  type: "like" | "repost",
  act: Act,
  { author }: Pick<Post, "author">,
  place: Place,
): void {
  const recipient = act.store.people.get(author);
  if (!recipient.isBot) return;
  act.write.notice(
    { recipient, event: { type, payload: { actor: profileOf(act.from), ...place } } },
    act,
  );
}
