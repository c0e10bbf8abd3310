/** Written from section 2 of the platform document instead of imported from src, so that they can check src. */

export interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

export interface Image {
  readonly url: string;
  readonly thumbUrl: string | null;
  readonly width: number;
  readonly height: number;
}

export interface Upload {
  readonly key: string;
  readonly url: string;
  readonly thumbUrl: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

export interface Content {
  readonly id: string;
  readonly type: string;
  readonly text: string;
  readonly images: readonly Image[];
}

export interface Conversation {
  readonly id: string;
  readonly peer: {
    readonly username: string;
    readonly name: string;
    readonly avatarUrl: string | null;
    readonly isBot: boolean;
  };
  readonly lastMessageAt: string;
  readonly lastMessage: { readonly text: string; readonly fromBot: boolean };
}

export interface Message {
  readonly id: string;
  readonly conversationId: string;
  readonly fromBot: boolean;
  readonly authorUsername: string;
  readonly text: string;
  readonly createdAt: string;
  readonly replyToId: string | null;
  readonly images: readonly Omit<Image, "thumbUrl">[];
}

export interface Sent {
  readonly id: string;
  readonly conversationId: string;
  readonly createdAt: string;
}

/** The payload of every event type except `dm.message`. Some fields exist only for some types. */
export interface Activity {
  readonly actor: { readonly username: string; readonly name: string };
  readonly entityType: string;
  readonly entityId: string;
  readonly excerpt?: string;
  readonly postId?: string;
  readonly commentId?: string;
}

export interface DirectMessage {
  readonly conversationId: string;
  readonly from: { readonly userId: string; readonly username: string; readonly name: string };
  readonly excerpt: string;
}

export interface Event<Payload = unknown> {
  readonly id: string;
  readonly type: string;
  readonly payload: Payload;
  readonly createdAt: string;
}

export interface EventPage {
  readonly events: readonly Event[];
  readonly cursor: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export const ISO_UTC: RegExp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

export const ISO_UTC_MS: RegExp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
