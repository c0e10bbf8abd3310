import { useState } from "preact/hooks";
import type { ActInput } from "../../../types.ts";
import { control } from "../../api/control.ts";
import type { Outcome } from "../../content/outcome.tsx";
import { person } from "../../live/settings.ts";

/** What is done, by whoever speaks. */
export type Doing = Omit<ActInput, "from">;

/** What is being written to a post. */
export type Writing = "comment" | "mention" | "quote";

/** What is asked of a post by a key or a button of it. */
export type Asked = Writing | "repost" | "like";

export interface Acts {
  /** What came of the last one. */
  readonly outcome: Outcome | undefined;
  /** @param ofBot true where it is done to what a bot has written */
  readonly act: (doing: Doing, ofBot?: boolean) => Promise<void>;
}

/** Does things, and keeps what came of the last one. @param changed after each */
export function useActs(changed: () => unknown): Acts {
  const [outcome, setOutcome] = useState<Outcome>();
  const act = async (doing: Doing, ofBot = false) => {
    const from = person.value;
    const { events } = await control.act({ ...doing, from });
    setOutcome({ did: said(doing, from), none: whyNone(doing, ofBot), events });
    await changed();
  };
  return { outcome, act };
}

const done: Readonly<Record<string, string>> = {
  post: "posted",
  comment: "commented",
  mention: "mentioned the bot",
  reply: "replied",
  like: "liked it",
  repost: "reposted it",
  quote: "quoted it",
  follow: "follows the bot",
};

function said({ type }: Doing, from: string): string {
  return `@${from} ${done[type] ?? type}.`;
}

function whyNone({ type }: Doing, ofBot: boolean): string {
  // The only one who is not told of what is done to a bot's content is that bot.
  if (ofBot) return "a bot is not told of what it does itself.";
  if (type === "post") return "it mentions no bot. With @ and the name of a bot, that bot is told.";
  const what = type === "reply" ? "the comment" : type === "like" ? "what was liked" : "the post";
  const text = type === "like" || type === "repost" ? "" : ", and the text mentions no bot";
  return `${what} is of a person${text}. Bots are told of what concerns them.`;
}
