import type { AuthorView } from "../../../types.ts";

/** Who writes in a conversation, and to which bot; or why the portal cannot write there. */
export type Roles =
  | { readonly from: string; readonly to: string }
  | { readonly from?: undefined; readonly closed: string };

/** @param bot username of the bot that is shown */
export function rolesIn(
  { group, members }: { readonly group: boolean; readonly members: readonly AuthorView[] },
  bot: string,
): Roles {
  if (group) return { closed: "Bots cannot write to groups. This one can only be read." };
  const bots = members.filter(({ isBot }) => isBot);
  const to = bots.find(({ username }) => username === bot) ?? bots[0];
  const from = members.find((member) => member !== to);
  if (to === undefined || from === undefined) {
    return { closed: "This is a conversation of two people. The bot does not see it." };
  }
  return { from: from.username, to: to.username };
}
