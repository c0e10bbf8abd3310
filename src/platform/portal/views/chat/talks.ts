import type { AuthorView, ControlConversation } from "../../../types.ts";

/** Finds the direct conversation between two accounts. Ignores groups. */
export function between(
  all: readonly ControlConversation[],
  one: string,
  other: string,
): ControlConversation | undefined {
  return all.find(({ group, members }) => {
    const names = members.map(({ username }) => username);
    return !group && names.includes(one) && names.includes(other);
  });
}

const list = new Intl.ListFormat("en");

/** Returns the members with users first: "@ben and @bot". */
export function nameOf(members: readonly AuthorView[]): string {
  const sorted = members.toSorted((one, other) => Number(one.isBot) - Number(other.isBot));
  return list.format(sorted.map(({ username }) => `@${username}`));
}

/** The user and the bot in a conversation, or the reason why the portal cannot write to it. */
export type Roles =
  | { readonly from: string; readonly to: string }
  | { readonly from?: undefined; readonly closed: string };

export function rolesIn(
  { group, members }: Pick<ControlConversation, "group" | "members">,
  bot: string,
): Roles {
  if (group) return { closed: "Bots cannot write to groups. This group is read-only." };
  const bots = members.filter(({ isBot }) => isBot);
  const to = bots.find(({ username }) => username === bot) ?? bots[0];
  const from = members.find((member) => member !== to);
  if (to === undefined || from === undefined) {
    return { closed: "This is a conversation between two users. The bot does not see it." };
  }
  return { from: from.username, to: to.username };
}
