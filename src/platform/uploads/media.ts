import { Router } from "express";
import type { Clock } from "../../core/clock.ts";
import { mediaTypeOf } from "../../core/image-kind.ts";
import { notFound } from "../error.ts";
import { parameter } from "../http/query.ts";
import type { Images } from "../store/images.ts";

/** The public addresses of images: everything below /media. No token: what is posted is for everybody. */
export function mediaRouter(images: Images, clock: Clock): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get("/:file", (request, response) => {
    const found = images.file(parameter(request, "file"), clock.now());
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
