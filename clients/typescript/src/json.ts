/** A JSON value, as responses contain it. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object, as responses contain it. */
export type JsonObject = { readonly [name: string]: JsonValue };

/** The bytes of a request whose body is not JSON. Without a type of its own it is sent as application/octet-stream. */
export type RawBody = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string;
