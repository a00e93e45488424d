//! The words of x402 version 2, scheme exact on EVM chains.
