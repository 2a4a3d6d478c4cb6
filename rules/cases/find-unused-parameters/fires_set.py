from transformers import TrainingArguments


def arguments(folder):
    args = TrainingArguments(folder)
    args.ddp_find_unused_parameters = True  # expect: find-unused-parameters
    return args
