"""Terms, statements and packed states as LLVM IR: the writer, without what is written."""
