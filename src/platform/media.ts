import { readFileSync } from "node:fs";
import { mediaTypeOf } from "../core/image-kind.ts";
import { notFound } from "./error.ts";
import type { Answer } from "./http/answer.ts";
import type { Incoming } from "./http/routes.ts";
import type { ImageFile, Images } from "./store/images.ts";

export const AVATAR_FILE: string = "avatar.webp";

/** Serves an image below `/media`. No token is required, because posted images are public. */
export function answerMedia(images: Images, { method, path }: Incoming, now: number): Answer {
  const [, file = ""] = /^\/([^/]+)$/.exec(path) ?? [];
  const isRead = method === "GET" || method === "HEAD";
  const name = decodeURIComponent(file);
  const found = name === AVATAR_FILE ? avatar() : images.file(name, now);
  if (found === undefined || !isRead) throw notFound("image");
  const headers = {
    "content-type": mediaTypeOf(found.kind),
    // Prevent browsers from executing an uploaded file.
    "content-security-policy": "default-src 'none'; sandbox",
    // The image at a URL never changes, but an unattached upload expires after an hour.
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
