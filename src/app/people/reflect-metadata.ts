// @simplewebauthn/server's certificate library throws while it loads unless this has run before. It is a
//   module of its own because a compiled program loads CommonJS packages after the modules that are imported
//   beside them.
import "reflect-metadata";
