import { sign } from "../../src/signature/signature.ts";
import { chapter, show } from "./report.ts";
import type { Stage } from "./stage.ts";

export async function answering(stage: Stage): Promise<void> {
  chapter("Users talk to the bot");
  const { platform } = stage;
  const written = await platform.write("ada", "hello");
  const status = await stage.delivered(written);
  show(`a signed webhook delivers @ada's "hello": [${status}]`, status === 200, status);
  const answer = await stage.answered(written);
  show(
    `the bot answers a DM: "${answer}"`,
    (await platform.answers(written.conversationId)).length === 1,
    answer,
  );

  const mention = { type: "mention", from: "ben", text: "hey @bot" } as const;
  const { postId = "" } = await platform.control.act(mention);
  await stage.happens("a comment on the post", "api", ({ created }) => created?.postId === postId);
  const comments = await platform.control.comments(postId);
  const own = comments.filter(({ author }) => author.isBot).map(({ text }) => text);
  show(`the bot answers a mention with one comment: "${own[0]}"`, own.length === 1, own);
}

export async function forgery(stage: Stage, webhook: string): Promise<void> {
  chapter("Forged and altered events");
  const body = JSON.stringify({ events: [forgedEvent()] });
  const now = Date.now() / 1000;
  const forged = await post(webhook, body, sign(body, "whsec_not_the_real_secret", now));
  show("the bot refuses a forged request: [401]", forged === 401, forged);
  const stale = await post(webhook, body, sign(body, stage.secret, now - 301));
  show("the bot refuses a genuine request that is 301 s old: [400]", stale === 400, stale);
  const good = sign(body, stage.secret, now);
  const changed = await post(webhook, body.replace("forged", "Forged"), good);
  show("the bot refuses a genuine request with one changed byte: [401]", changed === 401, changed);
  const naked = await post(webhook, body, undefined);
  show("the bot refuses a request without a signature: [400]", naked === 400, naked);
}

/** Checks that the bot acknowledges a retried delivery, but answers its event only once. */
export async function repeats(stage: Stage): Promise<void> {
  chapter("The platform retries a delivery");
  const { platform } = stage;
  const written = await platform.write("cleo", "only once, please");
  await stage.answered(written);
  const results = await platform.control.deliver({ eventIds: [written.eventId], times: 5 });
  const statuses = results.map(({ status }) => status);
  show(
    `the bot accepts the same delivery five more times: [${statuses.join("] [")}]`,
    statuses.length === 5 && statuses.every((status) => status === 200),
    statuses,
  );
  // The bot handles a conversation in order. Once it has answered this message, it has also handled the repeats.
  await stage.answered(await platform.write("cleo", "and now something else"));
  const answers = await platform.answers(written.conversationId);
  show("the bot answered the message once", answers.length === 2, answers);
}

function forgedEvent(): object {
  const from = { userId: "u_mallory", username: "mallory", name: "Mallory" };
  return {
    id: "evt_forged",
    type: "dm.message",
    payload: { conversationId: "c_1", from, excerpt: "forged" },
    createdAt: new Date().toISOString(),
  };
}

async function post(url: string, body: string, signature: string | undefined): Promise<number> {
  const headers = { "content-type": "application/json" };
  const signed = signature === undefined ? {} : { "x-service-signature": signature };
  const response = await fetch(url, { method: "POST", headers: { ...headers, ...signed }, body });
  await response.arrayBuffer();
  return response.status;
}
