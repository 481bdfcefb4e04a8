"""Which mistakes in a specification its instances notice: many small ones, judged one by one."""
