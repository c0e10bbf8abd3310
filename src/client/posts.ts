import type { Http } from "./http.ts";
import type { Listing } from "./listing.ts";
import { list, read, write } from "./operations.ts";
import { commentsPath, postPath } from "./request.ts";
import { pageOf, post, sentPost } from "./schemas.ts";
import type {
  CallOptions,
  Comment,
  OutgoingMessage,
  PageOptions,
  Post,
  SentComment,
  SentPost,
} from "./types.ts";

/** Posts and their comments. */
export class Posts {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * A post. Scope: `read`.
   *
   * @throws {NotFoundError} NOT_FOUND
   */
  async get(postId: string, options: CallOptions = {}): Promise<Post> {
    return await read(this.#http, postPath(postId), post, options);
  }

  /**
   * Makes a post: text, images or both. Tried again only if it is certain that it was not made.
   * Scope: `posts:write`.
   *
   * @throws {ContentError} EMPTY, TOO_LONG
   * @throws {ImageError} TOO_MANY_IMAGES, INVALID_IMAGE_KEY, and problems of an image
   * @throws {AccessError} AGENT_SCOPE_MISSING
   */
  async create(outgoing: OutgoingMessage, options: CallOptions = {}): Promise<SentPost> {
    return await write(this.#http, "/posts", sentPost, outgoing, options);
  }

  /** The comments on a post. Scope: `read`. Their order is not documented. */
  comments(postId: string, options: PageOptions = {}): Listing<Comment> {
    return list(this.#http, () => commentsPath(postId), pageOf(post), options);
  }

  /** Comments on a post, as {@link create} makes one. Scope: `comments:write`. */
  async comment(
    postId: string,
    outgoing: OutgoingMessage,
    options: CallOptions = {},
  ): Promise<SentComment> {
    return await write(this.#http, commentsPath(postId), sentPost, outgoing, options);
  }
}
