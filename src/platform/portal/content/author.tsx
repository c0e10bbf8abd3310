import type { AuthorView } from "../../types.ts";
import { Avatar, BotLabel } from "../parts/bits.tsx";

/** Who has written something. */
export function Author({ username, name, isBot }: AuthorView) {
  return (
    <span class="author">
      <Avatar username={username} isBot={isBot} />
      <strong>{name}</strong>
      <span class="hint">@{username}</span>
      {isBot && <BotLabel />}
    </span>
  );
}
