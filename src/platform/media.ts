import { readFileSync } from "node:fs";
import { mediaTypeOf } from "../core/image-kind.ts";
import { notFound } from "./error.ts";
import type { Answer } from "./http/answer.ts";
import type { Incoming } from "./http/routes.ts";
import type { ImageFile, Images } from "./store/images.ts";

/** The one picture that every account with an avatar has. */
export const AVATAR_FILE: string = "avatar.webp";

/** Answers with an image of `/media`. No token is needed, because what is posted is public. */
export function answerMedia(images: Images, { method, path }: Incoming, now: number): Answer {
  const [, file = ""] = /^\/([^/]+)$/.exec(path) ?? [];
  const isRead = method === "GET" || method === "HEAD";
  const name = decodeURIComponent(file);
  const found = name === AVATAR_FILE ? avatar() : images.file(name, now);
  if (found === undefined || !isRead) throw notFound("image");
  const headers = {
    "content-type": mediaTypeOf(found.kind),
    // A browser runs nothing of the bytes.
    "content-security-policy": "default-src 'none'; sandbox",
    // An address never gets another image, but an image that stays unattached goes.
    "cache-control": "public, max-age=3600, immutable",
  };
  return { status: 200, headers, body: found.data };
}

function avatar(): ImageFile {
  return {
    data: readFileSync(new URL("./acts/sample.thumb.webp", import.meta.url)),
    kind: "webp",
  };
}
