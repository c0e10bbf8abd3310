import type { ImageInput } from "../../client/images/source.ts";
import { fromBase64, fromDataUrl } from "../../client/images/source.ts";
import { upload } from "../../client/schemas.ts";
import * as z from "../../core/zod.ts";
import { ServiceBotError } from "../../errors.ts";
import { word } from "./inputs.ts";
import { type Tool, tool } from "./tool.ts";
import { plainFields } from "./words.ts";

const input = z.strictObject({
  url: word()
    .optional()
    .describe("The https address of an image on the public internet; the platform fetches it."),
  dataBase64: z.string().min(1).optional().describe("The image itself, as base64; 5 MB at most."),
  contentType: z
    .enum(["image/png", "image/jpeg", "image/webp", "image/gif", "image/avif"])
    .optional()
    .describe("Goes with dataBase64. Where it differs from what the bytes are, the bytes count."),
});

/** `POST /uploads` (section 4). */
export const uploadTools: readonly Tool[] = [
  tool({
    name: "service_upload_image",
    title: "Upload an image",
    description:
      "Uploads an image, from an address (url) or as it is (dataBase64 with contentType). " +
      "Its key goes into imageKeys of a post, a comment or a message, once, within an hour.",
    scopes: ["posts:write", "comments:write", "dm"],
    writes: true,
    input,
    output: upload,
    run: async (given, { client, signal }) => {
      const value = await client.upload(imageOf(given), { signal });
      return { value, text: `The image was uploaded.\n${plainFields(value)}` };
    },
  }),
];

/**
 * What is to be uploaded. An address is passed on as one, never as a text that could name a file of this machine.
 *
 * @throws {ServiceBotError} INVALID_OPTION; {ApiError} TOO_LARGE
 */
function imageOf({ url, dataBase64 }: z.output<typeof input>): ImageInput {
  if (url !== undefined && dataBase64 === undefined) return { url };
  if (url !== undefined || dataBase64 === undefined) {
    throw new ServiceBotError("INVALID_OPTION", "Give either url or dataBase64.");
  }
  if (/^data:/i.test(dataBase64)) return { data: fromDataUrl(dataBase64) };
  // Base64 is often broken into lines.
  return { data: fromBase64(dataBase64.replace(/\s+/g, ""), "dataBase64") };
}
