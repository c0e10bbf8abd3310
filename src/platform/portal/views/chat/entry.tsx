import type { ComponentChildren } from "preact";
import type { AuthorView } from "../../../types.ts";
import { type Image, Images } from "../../content/images.tsx";
import { Avatar, BotLabel, Time } from "../../parts/bits.tsx";
import { EventOutcome } from "./activity.tsx";

export interface EntryProps {
  readonly of: {
    readonly id: string;
    readonly text: string;
    readonly images: readonly Image[];
    readonly author: Omit<AuthorView, "name"> & Partial<AuthorView>;
    readonly createdAt: string;
  };
  readonly href?: string | undefined;
  readonly isHeadless?: boolean;
  readonly isLast?: boolean;
  readonly children?: ComponentChildren;
}

export function Entry({ of, href, isHeadless = false, isLast = false, children }: EntryProps) {
  const { username, name, isBot } = of.author;
  return (
    <>
      {!isHeadless && (
        <p class="row entry-head">
          <Avatar username={username} isBot={isBot} />
          {name !== undefined && <strong>{name}</strong>}
          <span class="hint">@{username}</span>
          {isBot && <BotLabel />}
          <a class="plain" {...(href === undefined ? {} : { href })}>
            <Time at={of.createdAt} />
          </a>
        </p>
      )}
      {children}
      {of.text !== "" && <p class="text">{of.text}</p>}
      <Images images={of.images} by={username} />
      <EventOutcome of={of.id} isLast={isLast} />
    </>
  );
}
