import type { AuthorView, ImageView } from "../../../types.ts";
import { Author } from "../../content/author.tsx";
import { Images } from "../../content/images.tsx";
import { Time } from "../../parts/bits.tsx";

export interface ContentBodyProps {
  readonly content: {
    readonly text: string;
    readonly images: readonly ImageView[];
    readonly author: AuthorView;
    readonly createdAt: string;
  };
  /** The id of its head, which names what it belongs to. */
  readonly headId?: string;
  /** Where it can be seen by itself. */
  readonly href?: string;
}

/** A post or a comment: who, when, what. */
export function ContentBody({ content, headId, href }: ContentBodyProps) {
  const { text, images, author, createdAt } = content;
  return (
    <>
      <p class="content-head" id={headId}>
        <Author {...author} />{" "}
        {href === undefined ? (
          <Time at={createdAt} />
        ) : (
          <a class="plain" href={href}>
            <Time at={createdAt} />
          </a>
        )}
      </p>
      {text !== "" && <p class="post-text">{text}</p>}
      <Images images={images} by={author.username} />
    </>
  );
}
