import type * as z from "../core/zod.ts";
import { sendWithImages } from "./attach.ts";
import type { Http } from "./http.ts";
import { check } from "./schemas.ts";
import type { CallOptions, OutgoingMessage } from "./types.ts";
import { uploadImage } from "./upload.ts";

/** A write with text, images or both, which are uploaded before (section 4, "Attaching images"). */
export async function write<T>(
  http: Http,
  path: string,
  answer: z.ZodType<T>,
  outgoing: OutgoingMessage,
  { signal }: CallOptions,
): Promise<T> {
  return await sendWithImages(outgoing, {
    signal,
    prepare: (...work) => http.prepare(...work),
    upload: (image, abort) => uploadImage(http, image, { signal: abort }),
    send: async (json) => {
      const { body } = await http.request("POST", path, { signal, json });
      return check(answer, body, `POST ${path}`);
    },
  });
}
