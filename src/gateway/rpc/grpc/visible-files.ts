import {
  clone,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/** The definitions that callers of a plane may see, indexed for reflection. */
export interface VisibleFiles {
  readonly serviceNames: readonly string[];
  /** A file and its transitive dependencies, the file itself first. */
  closureOf(fileName: string): readonly string[];
  bytesOf(fileName: string): Uint8Array;
  /** The file that declares a service, method, message, enum or extension. */
  fileOfSymbol(symbol: string): string | undefined;
  fileOfExtension(extendee: string, number: number): string | undefined;
  extensionNumbersOf(extendee: string): readonly number[];
}

/** Collects the files of the methods, without definitions that only other methods of their services use. */
export function collectVisibleFiles(methods: readonly DescMethod[]): VisibleFiles {
  const files = filesOf(new Set(methods.map((method) => method.parent.file)));
  const protos = new Map([...visibleProtos(files, new Set(methods))].map((proto) => [proto.name, proto]));
  const symbols = new Map<string, string>();
  const extensions = new Map<string, Map<number, string>>();
  const encoded = new Map<string, Uint8Array>();
  for (const proto of protos.values()) index(proto, symbols, extensions);

  return {
    serviceNames: [...new Set(methods.map((method) => method.parent.typeName))].sort(),
    closureOf(fileName) {
      const names = new Set([fileName]);
      for (const name of names) for (const needed of protos.get(name)?.dependency ?? []) names.add(needed);
      return [...names].filter((name) => protos.has(name));
    },
    bytesOf(fileName) {
      let bytes = encoded.get(fileName);
      if (bytes === undefined) {
        bytes = toBinary(FileDescriptorProtoSchema, protos.get(fileName)!);
        encoded.set(fileName, bytes);
      }
      return bytes;
    },
    fileOfSymbol: (symbol) => symbols.get(symbol),
    fileOfExtension: (extendee, number) => extensions.get(extendee)?.get(number),
    extensionNumbersOf: (extendee) => [...(extensions.get(extendee)?.keys() ?? [])].sort((a, b) => a - b),
  };
}

function filesOf(roots: Set<DescFile>): Set<DescFile> {
  for (const file of roots) for (const needed of file.dependencies) roots.add(needed);
  return roots;
}

function* visibleProtos(files: ReadonlySet<DescFile>, methods: ReadonlySet<DescMethod>): Iterable<FileDescriptorProto> {
  const isCut = (service: DescService) => service.methods.some((method) => !methods.has(method));
  const cut = new Set([...files].filter((file) => file.services.some(isCut)));
  const whole = [...files].filter((file) => !cut.has(file)).flatMap((file) => file.messages);
  const ofMethods = [...methods].flatMap((method) => [method.input, method.output]);
  const needed = reachable([...whole, ...ofMethods]);
  for (const file of files) yield cut.has(file) ? cutProto(file, methods, needed) : file.proto;
}

// A type that only a hidden method uses would reveal that method.
function cutProto(file: DescFile, methods: ReadonlySet<DescMethod>, needed: ReadonlySet<string>): FileDescriptorProto {
  const proto = clone(FileDescriptorProtoSchema, file.proto);
  for (const [index, service] of file.services.entries()) {
    proto.service[index]!.method = service.methods
      .filter((method) => methods.has(method))
      .map((method) => method.proto);
  }
  proto.service = proto.service.filter((service) => service.method.length > 0);
  const isNeeded = ({ name }: DescriptorProto | EnumDescriptorProto) => needed.has(join(proto.package, name));
  proto.messageType = proto.messageType.filter(isNeeded);
  proto.enumType = proto.enumType.filter(isNeeded);
  return proto;
}

/** The full names of all types that the messages refer to, and of the types that enclose them. */
function reachable(roots: readonly DescMessage[]): Set<string> {
  const names = new Set<string>();
  const visit = (type: DescMessage | undefined) => {
    if (type === undefined || names.has(type.typeName)) return;
    names.add(type.typeName);
    visit(type.parent);
    for (const { message, enum: enumType } of type.fields) {
      visit(message);
      if (enumType === undefined) continue;
      names.add(enumType.typeName);
      visit(enumType.parent);
    }
    // A nested type needs its enclosing type, with the types that it refers to.
    for (const nested of type.nestedMessages) visit(nested);
  };
  for (const root of roots) visit(root);
  return names;
}

function index(
  proto: FileDescriptorProto,
  symbols: Map<string, string>,
  extensions: Map<string, Map<number, string>>,
): void {
  const add = (symbol: string) => symbols.set(symbol, proto.name);
  const addScope = (
    scope: string,
    declared: Pick<DescriptorProto, "enumType" | "extension">,
    nested: DescriptorProto[],
  ) => {
    for (const { name } of declared.enumType) add(join(scope, name));
    for (const { name, extendee, number } of declared.extension) {
      add(join(scope, name));
      const numbers = extensions.get(extendee.slice(1)) ?? new Map<number, string>();
      extensions.set(extendee.slice(1), numbers.set(number, proto.name));
    }
    for (const message of nested) {
      add(join(scope, message.name));
      addScope(join(scope, message.name), message, message.nestedType);
    }
  };
  addScope(proto.package, proto, proto.messageType);
  for (const service of proto.service) {
    add(join(proto.package, service.name));
    for (const method of service.method) add(`${join(proto.package, service.name)}.${method.name}`);
  }
}

function join(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}
