/** Encodes a text as words of RFC 2047, as headers of e-mail messages need it. ASCII stays as it is. */
export function encodeMimeWords(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const words: string[] = [];
  let word = "";
  for (const character of text) {
    // An encoded word has at most 75 characters, which is 45 bytes of text.
    if (Buffer.byteLength(word + character) > 45) {
      words.push(word);
      word = "";
    }
    word += character;
  }
  words.push(word);
  return words.map((each) => `=?UTF-8?B?${Buffer.from(each).toString("base64")}?=`).join(" ");
}
