import { readUploadBody } from "../uploads/body.ts";
import type { Call, CallAnswer, Route } from "./route.ts";

/** POST /uploads (section 4): any write scope will do. */
export const uploadRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/uploads",
    scopes: ["posts:write", "comments:write", "dm"],
    read: readUploadBody,
    handle: upload,
  },
];

async function upload({ uploads, body, bot, gone }: Call): Promise<CallAnswer> {
  return { status: 200, body: await uploads.accept(body, bot, gone) };
}
