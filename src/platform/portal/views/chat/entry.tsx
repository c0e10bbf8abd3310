import type { ComponentChildren } from "preact";
import type { AuthorView } from "../../../types.ts";
import { type Image, Images } from "../../content/images.tsx";
import { Avatar, BotLabel, Time } from "../../parts/bits.tsx";
import { Outcome } from "./activity.tsx";

export interface EntryProps {
  readonly id: string;
  /** Absent below an entry of the same author. */
  readonly head?: ComponentChildren;
  readonly text: string;
  readonly images: readonly Image[];
  /** Username of the author. */
  readonly by: string;
  readonly isLast?: boolean;
}

/** A message, a post or a comment, with the outcome of its event. */
export function Entry({ id, head, text, images, by, isLast = false }: EntryProps) {
  return (
    <>
      {head}
      {text !== "" && <p class="text">{text}</p>}
      <Images images={images} by={by} />
      <Outcome of={id} isLast={isLast} />
    </>
  );
}

export interface HeadProps {
  /** Without a name, such as that of a message, the username stands alone. */
  readonly author: Omit<AuthorView, "name"> & { readonly name?: string };
  readonly at: string;
  /** The address of a post. */
  readonly href?: string;
}

/** Author and time. */
export function Head({ author: { username, name, isBot }, at, href }: HeadProps) {
  return (
    <p class="row entry-head">
      <Avatar username={username} isBot={isBot} />
      {name !== undefined && <strong>{name}</strong>}
      <span class="hint">@{username}</span>
      {isBot && <BotLabel />}
      {href === undefined ? (
        <Time at={at} />
      ) : (
        <a class="plain" href={href}>
          <Time at={at} />
        </a>
      )}
    </p>
  );
}
