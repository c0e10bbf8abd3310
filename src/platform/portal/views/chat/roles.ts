import type { AuthorView } from "../../../types.ts";

/** Who writes in a conversation, and to which bot; or why nobody can write there from here. */
export type Roles =
  | { readonly from: string; readonly to: string }
  | { readonly from?: undefined; readonly closed: string };

/** @param bot username of the bot that is looked at */
export function rolesIn(
  { group, members }: { readonly group: boolean; readonly members: readonly AuthorView[] },
  bot: string,
): Roles {
  if (group) {
    return {
      closed:
        "A group can be read here. Its first message is the only one: bots have no part in groups.",
    };
  }
  const bots = members.filter(({ isBot }) => isBot);
  const to = bots.find(({ username }) => username === bot) ?? bots[0];
  const from = members.find((member) => member !== to);
  if (to === undefined || from === undefined) {
    return {
      closed:
        "Two people talk here, which the bot must not see. Only messages to a bot can be written.",
    };
  }
  return { from: from.username, to: to.username };
}
