import { readFileSync } from "node:fs";
import { Router } from "express";
import type { Clock } from "../../core/clock.ts";
import { mediaTypeOf } from "../../core/image-kind.ts";
import { notFound } from "../error.ts";
import { parameter } from "../http/query.ts";
import type { ImageFile, Images } from "../store/images.ts";

/** The one picture that every account with an avatar has. */
export const AVATAR_FILE: string = "avatar.webp";

/** The public addresses of images: everything below /media. No token: what is posted is for everybody. */
export function mediaRouter(images: Images, clock: Clock): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get("/:file", (request, response) => {
    const file = parameter(request, "file");
    const found = file === AVATAR_FILE ? avatar() : images.file(file, clock.now());
    if (found === undefined) throw notFound("image");
    response.set({
      "Content-Type": mediaTypeOf(found.kind),
      // Whatever else the bytes may hold, a browser runs nothing of it.
      "Content-Security-Policy": "default-src 'none'; sandbox",
      // An address is never used for another image, but the image goes when nobody attaches it.
      "Cache-Control": "public, max-age=3600, immutable",
    });
    response.send(Buffer.from(found.data));
  });
  return router;
}

function avatar(): ImageFile {
  return {
    data: readFileSync(new URL("../acts/sample.thumb.webp", import.meta.url)),
    kind: "webp",
  };
}
